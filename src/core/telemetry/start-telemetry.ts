import type { TelemetryEnv } from '../env.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

export interface TelemetryOptions {
  env: TelemetryEnv | null;
  version: string;
  /** `production`, for example. */
  environment: string;
  metrics: Pick<Metrics, 'collect'>;
  log: Logger;
}

/** Starts the export of traces and metrics where a collector is set; the SDK is loaded only then. */
export async function startTelemetry(options: TelemetryOptions): Promise<Tracing> {
  if (options.env === null) return NO_TRACING;
  const { startOtlp } = await import('./otlp.ts');
  return startOtlp({ ...options, env: options.env });
}
