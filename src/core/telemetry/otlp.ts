/**
 * Traces and metrics by OTLP over HTTP, with the SDK of OpenTelemetry. Imported by `start-telemetry.ts` only where a collector is set. Nothing
 * is registered globally, so that several services in one process (tests) do not share traces.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { DiagLogLevel, diag, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TelemetryEnv } from '../env.ts';
import type { Logger } from '../log.ts';
import { promMetricProducer } from './metric-producer.ts';
import type { TelemetryOptions } from './start-telemetry.ts';
import {
  errorKind,
  type SpanKind as Kind,
  type OpenSpan,
  readTraceparent,
  type TraceContext,
  type Tracing,
  writeTraceparent,
} from './tracing.ts';

const EXPORT_TIMEOUT_MS = 10_000;
const CLOSE_MS = 5_000;
const REPORT_PAUSE_MS = 60_000;
const MAX_REASON = 300;
/** Long enough for a statement that is recognised. */
const MAX_ATTRIBUTE = 1_000;

const KINDS: Readonly<Record<Kind, SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
};

class RecordedSpan implements OpenSpan {
  readonly span: Span;

  constructor(span: Span) {
    this.span = span;
  }

  setName(name: string): void {
    this.span.updateName(name);
  }

  set(attributes: Readonly<Record<string, string | number | boolean>>): void {
    this.span.setAttributes(attributes);
  }

  fail(kind: string): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.setAttribute('error.type', kind);
  }

  end(): void {
    this.span.end();
  }
}

export function startOtlp({ env, version, environment, metrics, log }: TelemetryOptions & { env: TelemetryEnv }): Tracing {
  reportFailures(log);
  const resource = resourceFromAttributes({
    'service.name': env.serviceName,
    'service.version': version,
    'service.instance.id': randomUUID(),
    'deployment.environment.name': environment,
  });
  const target = (path: string) => ({
    url: `${env.endpoint}${path}`,
    headers: { ...env.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(target('/v1/traces')) });
  // Which traces are recorded is decided before a span is made, so that all others cost nothing.
  const traces = new TracerProvider({
    resource,
    sampler: new AlwaysOnSampler(),
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE },
  });
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(target('/v1/metrics')),
        exportIntervalMillis: env.metricIntervalMs,
        exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, env.metricIntervalMs),
        metricProducers: [promMetricProducer(metrics, resource)],
      }),
    ],
  });
  const tracer = traces.getTracer('subscription-service', version);
  const current = new AsyncLocalStorage<RecordedSpan>();
  const isChosen = () => Math.random() < env.sampledShare;

  function start(
    kind: Kind,
    name: string,
    attributes: Readonly<Record<string, string | number | boolean>>,
    parent: Span | null,
    link?: TraceContext,
  ) {
    const context = parent === null ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
    const links = link ? [{ context: remote(link) }] : [];
    return new RecordedSpan(tracer.startSpan(name, { kind: KINDS[kind], attributes, links }, context));
  }

  async function run<T>(span: RecordedSpan, work: (span: OpenSpan) => Promise<T>): Promise<T> {
    try {
      return await current.run(span, work, span);
    } catch (error) {
      span.fail(errorKind(error));
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    isOn: true,
    startRequest(name, attributes, traceparent) {
      const caller = env.incoming === 'ignore' ? null : readTraceparent(traceparent);
      if (caller && env.incoming === 'continue') {
        return caller.isRecorded ? start('server', name, attributes, trace.wrapSpanContext(remote(caller))) : null;
      }
      return isChosen() ? start('server', name, attributes, null, caller ?? undefined) : null;
    },
    within: (span, work) => (span instanceof RecordedSpan ? current.run(span, work) : work()),
    inJob(name, attributes, traceparent, work) {
      const sender = readTraceparent(traceparent);
      if (sender === null && !isChosen()) return work();
      const parent = sender && trace.wrapSpanContext(remote(sender));
      return run(start('consumer', name, attributes, parent), work);
    },
    inSpan(kind, name, attributes, work) {
      const parent = current.getStore();
      return parent === undefined ? work(null) : run(start(kind, name, attributes, parent.span), work);
    },
    traceparent() {
      const span = current.getStore();
      return span === undefined ? null : writeTraceparent(span.span.spanContext());
    },
    isSentTo: (system) => env.outgoing.has(system),
    async close() {
      const ended = Promise.allSettled([traces.shutdown(), meters.shutdown()]);
      const timer = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([ended, timer]);
      diag.disable();
    },
  };
}

function remote({ traceId, spanId }: TraceContext) {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Failures of the export, once in a while: a collector that is away must not fill the log. */
function reportFailures(log: Logger): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = (reason: string) => {
    const now = performance.now();
    if (now - reportedAt < REPORT_PAUSE_MS) return;
    reportedAt = now;
    log.warn({ reason: String(reason).slice(0, MAX_REASON) }, 'traces or metrics could not be exported');
  };
  const nothing = () => undefined;
  diag.setLogger({ error: report, warn: report, info: nothing, debug: nothing, verbose: nothing }, DiagLogLevel.WARN);
}
