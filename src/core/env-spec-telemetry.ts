import type { EnvVariable } from './env-spec.ts';

const group = 'Logs and metrics';

/** Variables of log files and of OpenTelemetry; the names that begin with OTEL are those of its specification. */
export const TELEMETRY_VARIABLES = {
  LOG_ROOT: {
    group,
    type: 'string',
    default: '.',
    effect:
      'Folder to which the settings LOG_FILE and LOG_DIR are relative; no log file is written or read outside of it. Local disk, not a network file system. A folder that cannot be written leaves the logs on standard output only.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group,
    type: 'string',
    default: null,
    effect:
      'Base address of an OpenTelemetry collector, for example http://127.0.0.1:4318: traces and metrics are sent there by OTLP over HTTP, to /v1/traces and /v1/metrics. Unset = none, and no OpenTelemetry SDK is loaded.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    group,
    type: 'string',
    default: null,
    isSecret: true,
    effect:
      'Headers of these requests, for example authorization=Bearer%20TOKEN: name=value pairs separated by commas, values URL-encoded.',
  },
  OTEL_SERVICE_NAME: {
    group,
    type: 'string',
    default: 'subscription-service',
    effect: 'Name of the service in traces and metrics.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    group,
    type: 'string',
    default: '0.1',
    effect:
      'Share of the traces that are recorded and sent, from 0 to 1. A trace is recorded as a whole: with its jobs and calls.',
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    group,
    type: 'integer',
    default: '60000',
    min: 1_000,
    max: 3_600_000,
    effect: 'Milliseconds between two exports of the metrics, which are those of GET /metrics.',
  },
  TRACE_INCOMING: {
    group,
    type: 'choice',
    default: 'link',
    choices: ['link', 'continue', 'ignore'],
    effect:
      "What the header traceparent of a request does. link = an own trace with a link to the caller's. continue = the caller's trace and its sampling decision; for callers that are trusted. ignore = nothing.",
  },
  TRACE_OUTGOING: {
    group,
    type: 'list',
    default: '',
    effect:
      'Outside systems whose calls get the header traceparent, by their names in the metrics, for example vpnpanel,mail. Unset = none.',
  },
} as const satisfies Record<string, EnvVariable>;
