/** Numbers at and past the ends of what an instant can be, of whole numbers, and of all numbers. */
export const extremes = [
  8.64e15,
  8.64e15 + 1,
  -8.64e15 - 1,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  1e308,
  5e-324
]
