/** Where traces and metrics go; null where nothing is exported. */
export interface TelemetryEnv {
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Share of the traces that are recorded, 0 to 1. */
  readonly sampledShare: number;
  readonly metricIntervalMs: number;
  readonly incoming: 'link' | 'continue' | 'ignore';
  /** Names of systems whose calls carry the trace. */
  readonly outgoing: ReadonlySet<string>;
}

type Name =
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
  | 'OTEL_SERVICE_NAME'
  | 'OTEL_TRACES_SAMPLER_ARG'
  | 'OTEL_METRIC_EXPORT_INTERVAL'
  | 'TRACE_INCOMING'
  | 'TRACE_OUTGOING';

interface Reader {
  string(name: Name): string | null;
  integer(name: Name): number;
  choice<T extends string>(name: Name, choices: readonly T[]): T;
  list(name: Name): string[];
  problem(name: Name, text: string): void;
}

export function readTelemetry(reader: Reader): TelemetryEnv | null {
  const endpoint = reader.string('OTEL_EXPORTER_OTLP_ENDPOINT')?.replace(/\/+$/, '') ?? null;
  const share = reader.string('OTEL_TRACES_SAMPLER_ARG')!;
  if (!/^(0(\.\d+)?|1(\.0+)?)$/.test(share)) reader.problem('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
  if (endpoint !== null && (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint))) {
    reader.problem('OTEL_EXPORTER_OTLP_ENDPOINT', 'must be an http or https address');
  }
  const telemetry: TelemetryEnv = {
    endpoint: endpoint ?? '',
    headers: Object.freeze(headersOf(reader)),
    serviceName: reader.string('OTEL_SERVICE_NAME')!,
    sampledShare: Number(share),
    metricIntervalMs: reader.integer('OTEL_METRIC_EXPORT_INTERVAL'),
    incoming: reader.choice('TRACE_INCOMING', ['link', 'continue', 'ignore']),
    outgoing: new Set(reader.list('TRACE_OUTGOING')),
  };
  return endpoint === null ? null : Object.freeze(telemetry);
}

function headersOf(reader: Reader): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of (reader.string('OTEL_EXPORTER_OTLP_HEADERS') ?? '').split(',')) {
    if (pair.trim() === '') continue;
    const [name, value] = [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()];
    const text = decoded(value);
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || text === null || /[^\t\x20-\x7e]/.test(text)) {
      reader.problem('OTEL_EXPORTER_OTLP_HEADERS', 'must be name=value pairs separated by commas');
      break;
    }
    headers[name] = text;
  }
  return headers;
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
