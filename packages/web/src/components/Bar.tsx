/** A bar that shows shares of a whole, or how full something is. */
import type { Tone } from "./Badge.tsx"

interface BarProps {
  readonly parts: ReadonlyArray<{ readonly tone: Tone; readonly share: number }>
}

/** Screen readers skip the bar, because the numbers next to it say the same. */
export const Bar = ({ parts }: BarProps) => {
  const shown = parts.filter(({ share }) => share > 0)
  return shown.length === 0 ? null : (
    <div class="bar" aria-hidden="true">
      {shown.map(({ share, tone }, index) => (
        <span key={index} class={`fill ${tone}`} style={{ flexGrow: share }} />
      ))}
    </div>
  )
}

interface MeterProps {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly tone: Tone
}

export const Meter = ({ label, max, tone, value }: MeterProps) => (
  <div class="bar" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={max} aria-valuenow={value}>
    <i class={`fill ${tone}`} style={{ width: `${max === 0 ? 0 : (100 * Math.min(value, max)) / max}%` }} />
  </div>
)
