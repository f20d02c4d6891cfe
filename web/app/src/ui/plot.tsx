import './plot.css';
import { Box, Group, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, useId, useState } from 'react';
import { compact, number } from '../format.ts';
import { niceMaximum } from './plot-axis.ts';

export interface PlotSeries {
  label: string;
  /** A CSS colour with enough contrast on light and dark. */
  color: string;
  values: number[];
}

interface PlotProps {
  label: string;
  /** Names of the points, from left to right. */
  points: string[];
  series: PlotSeries[];
  height?: number;
}

const LEFT = 44;
const RIGHT = 8;
const TOP = 10;
const BOTTOM = 24;

/** A name at the end of the axis must not be cut off. */
const anchorOf = (index: number, last: number): 'start' | 'middle' | 'end' => {
  if (index === 0) return 'start';
  return index === last ? 'end' : 'middle';
};

/** Lines over time. A charting library weighs more than the rest of the page (docs/decisions/web-app.md). */
export function Plot({ label, points, series, height = 240 }: PlotProps) {
  const [active, setActive] = useState<number>();
  const gradient = useId();
  const { ref, width: measured } = useElementSize();
  const width = measured || 800;
  const maximum = niceMaximum(Math.max(0, ...series.flatMap(({ values }) => values)));
  const x = (index: number) => LEFT + (index / Math.max(1, points.length - 1)) * (width - LEFT - RIGHT);
  const y = (value: number) => TOP + (1 - value / maximum) * (height - TOP - BOTTOM);
  const line = (values: number[]) =>
    values.map((value, index) => `${index ? 'L' : 'M'}${x(index)} ${y(value)}`).join('');
  const every = Math.ceil(points.length / Math.max(2, Math.floor(width / 130)));
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const index = Math.round(((at - LEFT) / (width - LEFT - RIGHT)) * (points.length - 1));
    setActive(Math.min(Math.max(index, 0), points.length - 1));
  };
  const first = series[0];
  return (
    <Box ref={ref}>
      <Group justify="space-between" gap="xs" mb={4} mih={22}>
        <Group gap="md">
          {series.map(({ label: name, color, values }) => (
            <Group key={name} gap={6}>
              <span className="dot" style={{ background: color }} aria-hidden />
              <Text size="sm" className="number">
                {name}
                {active !== undefined && `: ${number(values[active] ?? 0)}`}
              </Text>
            </Group>
          ))}
        </Group>
        <Text size="sm" c="dimmed">
          {active === undefined ? '' : points[active]}
        </Text>
      </Group>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        className="plot"
        role="img"
        aria-label={label}
        onPointerMove={move}
        onPointerLeave={() => setActive(undefined)}
      >
        <defs>
          <linearGradient id={gradient} x1="0" y1="0" x2="0" y2="1">
            <stop offset="0" stopColor={first?.color} stopOpacity="0.28" />
            <stop offset="1" stopColor={first?.color} stopOpacity="0" />
          </linearGradient>
        </defs>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share}>
            <line x1={LEFT} x2={width - RIGHT} y1={y(share * maximum)} y2={y(share * maximum)} className="plot-grid" />
            <text x={LEFT - 8} y={y(share * maximum) + 4} textAnchor="end" className="plot-text">
              {compact(share * maximum)}
            </text>
          </g>
        ))}
        {points.map(
          (name, index) =>
            index % every === 0 && (
              <text
                key={name}
                x={x(index)}
                y={height - 6}
                textAnchor={anchorOf(index, points.length - 1)}
                className="plot-text"
              >
                {name}
              </text>
            ),
        )}
        {first && (
          <path
            d={`${line(first.values)}L${x(points.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z`}
            fill={`url(#${gradient})`}
          />
        )}
        {series.map(({ label: name, color, values }) => (
          <path key={name} d={line(values)} fill="none" stroke={color} strokeWidth="2.2" strokeLinejoin="round" />
        ))}
        {active !== undefined && (
          <>
            <line x1={x(active)} x2={x(active)} y1={TOP} y2={height - BOTTOM} className="plot-cursor" />
            {series.map(({ label: name, color, values }) => (
              <circle key={name} cx={x(active)} cy={y(values[active] ?? 0)} r="4" fill={color} />
            ))}
          </>
        )}
      </svg>
    </Box>
  );
}
