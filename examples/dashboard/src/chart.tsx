import { Area, AreaChart, Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { Table } from './panel.tsx';
import { shortDay, useLanguage, useTexts } from './texts.ts';

interface Props {
  title: string;
  /** `date`: a day as `YYYY-MM-DD`. */
  data: readonly { date: string; value: number }[];
  format: (value: number) => string;
  kind?: 'area' | 'bar';
  testId?: string;
}

/** A value for each day. The picture is for eyes; the table below it has the same numbers for everyone. */
export function DailyChart({ title, data, format, kind = 'area', testId }: Props) {
  const texts = useTexts();
  const language = useLanguage();
  const points = data.map(({ date, value }) => ({ day: shortDay(date, language), value }));
  const Chart = kind === 'area' ? AreaChart : BarChart;
  return (
    <figure data-testid={testId}>
      <div className="chart" aria-hidden="true">
        <ResponsiveContainer width="100%" height="100%" initialDimension={{ width: 600, height: 220 }}>
          <Chart data={points} accessibilityLayer={false} margin={{ top: 8, right: 8, bottom: 0, left: 0 }}>
            <CartesianGrid stroke="var(--line)" vertical={false} />
            <XAxis dataKey="day" stroke="var(--soft)" tickLine={false} minTickGap={24} fontSize={12} />
            <YAxis stroke="var(--soft)" tickLine={false} axisLine={false} width={84} fontSize={12} tickFormatter={format} />
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
