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
