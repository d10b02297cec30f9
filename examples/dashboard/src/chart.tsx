import { Area, AreaChart, Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { Table } from './panel.tsx';
import { shortDay, useLanguage, useTexts } from './texts.ts';

interface Props {
  title: string;
  /** `date`: a day as `YYYY-MM-DD`. */
  data: readonly { date: string; value: number }[];
  format: (value: number) => string;
  /** How many days the chart has. */
  days?: number;
  kind?: 'area' | 'bar';
  testId?: string;
}

/** A value for each day. The picture is for eyes; the table below it has the same numbers for everyone. */
export function DailyChart({ title, data, format, days = 30, kind = 'area', testId }: Props) {
  const texts = useTexts();
  const language = useLanguage();
  const points = lastDays(data, days).map(({ date, value }) => ({ day: shortDay(date, language), value }));
  const Chart = kind === 'area' ? AreaChart : BarChart;
  return (
    <figure data-testid={testId}>
      <div className="chart" aria-hidden="true">
        <ResponsiveContainer width="100%" height="100%" initialDimension={{ width: 600, height: 220 }}>
          <Chart data={points} accessibilityLayer={false} margin={{ top: 8, right: 8, bottom: 0, left: 0 }}>
            <CartesianGrid stroke="var(--line)" vertical={false} />
            <XAxis dataKey="day" stroke="var(--soft)" tickLine={false} minTickGap={24} fontSize={12} />
            <YAxis
              stroke="var(--soft)"
              tickLine={false}
              axisLine={false}
              // Counts, and kopeks.
              allowDecimals={false}
              width={84}
              fontSize={12}
              tickFormatter={format}
            />
            <Tooltip
              formatter={(value) => [format(Number(value)), title]}
              contentStyle={{ background: 'var(--card)', borderColor: 'var(--line)', borderRadius: 8 }}
            />
            {kind === 'area' ? (
              <Area dataKey="value" stroke="var(--accent)" fill="var(--accent-soft)" strokeWidth={2} isAnimationActive={false} />
            ) : (
              <Bar dataKey="value" fill="var(--accent)" radius={[4, 4, 0, 0]} isAnimationActive={false} />
            )}
          </Chart>
        </ResponsiveContainer>
      </div>
      <details>
        <summary>{texts.asTable}</summary>
        <Table
          caption={title}
          columns={[texts.day, `#${title}`]}
          rows={data.map(({ date, value }) => ({ key: date, cells: [shortDay(date, language), format(value)] }))}
        />
      </details>
    </figure>
  );
}

const DAY_MS = 86_400_000;

/** The service answers the days on which there was something; the others are 0. */
function lastDays(data: Props['data'], days: number): { date: string; value: number }[] {
  const values = new Map(data.map(({ date, value }) => [date.slice(0, 10), value]));
  // The days of the service may be ahead of those of UTC.
  const end = Math.max(Date.now(), ...[...values.keys()].map((date) => Date.parse(date)));
  return Array.from({ length: days }, (_, index) => {
    const date = new Date(end - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return { date, value: values.get(date) ?? 0 };
  });
}
