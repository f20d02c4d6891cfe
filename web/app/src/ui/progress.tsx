import { Box } from '@mantine/core';

interface ProgressProps {
  /** In percent. */
  value: number;
  'aria-label': string;
  size?: 'lg';
  /** While it may grow. */
  animated?: boolean;
  className?: string;
}

/** How much of some work is done. */
export const Progress = ({ value, 'aria-label': label, size, animated, className }: ProgressProps) => (
  <div
    className={className ? `progress ${className}` : 'progress'}
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.round(value)}
    data-size={size}
    data-animated={animated || undefined}
  >
    <div style={{ width: `${Math.min(100, value)}%` }} />
  </div>
);

export interface ProgressPart {
  label: string;
  /** In percent of the whole. */
  value: number;
  color: string;
  animated?: boolean;
}

/** What came of the parts of some work, side by side. */
export const StackedProgress = ({ parts }: { parts: ProgressPart[] }) => (
  <div
    className="progress"
    role="img"
    aria-label={parts.map(({ label, value }) => `${label} ${Math.round(value)} %`).join(', ')}
    data-size="lg"
  >
    {parts.map(({ label, value, color, animated }) => (
      <Box key={label} w={`${value}%`} bg={color} data-animated={animated || undefined} />
    ))}
  </div>
);
