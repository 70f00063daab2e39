/** A choice of one of several names. */

interface SelectProps {
  readonly id?: string
  readonly name?: string
  readonly value: string
  readonly options: ReadonlyArray<{ readonly value: string; readonly text: string }>
  readonly onChange?: (value: string) => void
}

export const Select = ({ id, name, onChange, options, value }: SelectProps) => (
  <select id={id} name={name} value={value} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
    {options.map(({ text, value }) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
)
