/** The metrics of `GET /metrics` in the form of OpenTelemetry: they are counted once, and nothing is measured a second time. */
import { type HrTime, ValueType } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Metrics, MetricValues } from '../metrics.ts';

type Sample = MetricValues['values'][number];

export function promMetricProducer(metrics: Pick<Metrics, 'collect'>, resource: Resource): MetricProducer {
  const startTime = hrTime(Date.now() - process.uptime() * 1000);
  return {
    async collect(): Promise<CollectionResult> {
      const found = await metrics.collect();
      const endTime = hrTime(Date.now());
      const data = found.flatMap((metric) => metricData(metric, startTime, endTime) ?? []);
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'subscription-service' }, metrics: data }] },
        errors: [],
      };
    },
  };
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}

function metricData(metric: MetricValues, startTime: HrTime, endTime: HrTime): MetricData | null {
  const { name, help, type, values } = metric;
  const base = {
    descriptor: { name, description: help, unit: name.endsWith('_seconds') ? 's' : '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const point = ({ labels, value }: Sample): DataPoint<number> => ({ startTime, endTime, attributes: { ...labels }, value });
  switch (type) {
    case 'counter':
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: values.map(point) };
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: values.map(point) };
    case 'histogram':
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(values, startTime, endTime) };
    default:
      return null;
  }
}

/** One point for each set of labels. Prometheus counts a bucket with all smaller ones, OpenTelemetry without. */
function histograms(values: readonly Sample[], startTime: HrTime, endTime: HrTime): DataPoint<Histogram>[] {
  const groups = new Map<string, { labels: Sample['labels']; buckets: [number, number][]; sum: number; count: number }>();
  for (const { labels: all, value, metricName } of values) {
    const { le, ...labels } = all;
    const key = JSON.stringify(labels);
    const group = groups.get(key) ?? { labels, buckets: [], sum: 0, count: 0 };
    groups.set(key, group);
    if (le !== undefined) group.buckets.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value]);
    else if (metricName?.endsWith('_sum')) group.sum = value;
    else group.count = value;
  }
  return [...groups.values()].map(({ labels, buckets, sum, count }) => {
    buckets.sort(([a], [b]) => a - b);
    const counts = buckets.map(([, value], at) => value - (buckets[at - 1]?.[1] ?? 0));
    const boundaries = buckets.map(([limit]) => limit).filter(Number.isFinite);
    if (counts.length === boundaries.length) counts.push(count - (buckets.at(-1)?.[1] ?? 0));
    return { startTime, endTime, attributes: { ...labels }, value: { buckets: { boundaries, counts }, sum, count } };
  });
}
