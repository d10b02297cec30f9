import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { vi } from 'vitest';
import { type RunningService, startService } from '../../src/composition/start-service.ts';
import { loadEnv } from '../../src/core/env.ts';
import { createLogger } from '../../src/core/log.ts';
import { LogFiles } from '../../src/core/log-files/log-files.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import { createApiToken } from '../../src/domain/access/tokens.ts';
import { emptyDatabaseOnServer, serverUrl } from './test-database.ts';

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string };
}

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  links?: { traceId: string }[];
}

/** The service in this process, every trace recorded, with a collector that receives OTLP as JSON over HTTP. */
export interface TracedService {
  service: RunningService;
  /** Of the Web API. */
  token: string;
  /** Of its data and logs. */
  folder: string;
  spans: ReceivedSpan[];
  metricNames: Set<string>;
  /** Everything that the collector has received, as text. */
  received(): string;
  /** Values of the header `authorization` of its requests. */
  authorizations: unknown[];
  /**
   * The spans of the trace with the last span of this name, once every parent has arrived, which ends after its children, and `isComplete` is
   * true for them.
   */
  traceOf(name: string, isComplete: (trace: ReceivedSpan[]) => boolean): Promise<ReceivedSpan[]>;
  close(): Promise<void>;
}

export async function startTracedService(environment: Record<string, string> = {}): Promise<TracedService> {
  const spans: ReceivedSpan[] = [];
  const metricNames = new Set<string>();
  const authorizations: unknown[] = [];
  let received = '';
  const collector = createServer(async (request, reply) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    received += text;
    authorizations.push(request.headers.authorization);
    const body = JSON.parse(text);
    for (const resource of body.resourceSpans ?? []) {
      for (const scope of resource.scopeSpans) spans.push(...scope.spans);
    }
    for (const resource of body.resourceMetrics ?? []) {
      for (const scope of resource.scopeMetrics) for (const metric of scope.metrics) metricNames.add(metric.name);
    }
    reply.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'telemetry-'));
  const database = serverUrl ? await emptyDatabaseOnServer() : null;
  const env = loadEnv({
    NODE_ENV: 'test',
    DATA_DIR: folder,
    LOG_ROOT: folder,
    HOST: '127.0.0.1',
    PORT: '0',
    SANDBOX: 'on',
    ...(database ? { DATABASE_URL: database.url } : {}),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    ...environment,
  });
  const redactor = createRedactor();
  const logFiles = new LogFiles();
  const log = createLogger({ level: 'debug', format: 'json', redactor, stream: { write: () => undefined }, files: logFiles });
  const ended = endedSpans();
  const service = await startService({ env, log, logFiles, metrics: createMetrics(), redactor });
  const operator = { kind: 'system', name: 'test' } as const;
  const { token } = await createApiToken(service.app, operator, { name: 'trace', description: null, expiresAt: null });
  return {
    service,
    token,
    folder,
    spans,
    metricNames,
    authorizations,
    received: () => received,
    traceOf: (name, isComplete) =>
      vi.waitFor(
        async () => {
          await ended.flush();
          const root = spans.findLast((span) => span.name === name);
          const trace = spans.filter((span) => span.traceId === root?.traceId);
          const ids = new Set(trace.map(({ spanId }) => spanId));
          const isWhole = trace.every(({ parentSpanId }) => !parentSpanId || ids.has(parentSpanId));
          if (!root || !isWhole || !isComplete(trace)) {
            throw new Error(`no complete trace of ${name}: ${trace.map((span) => span.name).join(', ')}`);
          }
          return trace;
        },
        { timeout: 100_000, interval: 50 },
      ),
    close: async () => {
      await service.stop(0);
      ended.restore();
      await new Promise((resolve) => collector.close(resolve));
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Has what has ended exported at once. By itself the SDK exports every five seconds, and drops what its queue has no place for until then:
 * on a busy machine some of what a trace waits for.
 */
function endedSpans(): { flush(): Promise<unknown>; restore(): void } {
  const processors = new Set<BatchSpanProcessor>();
  const { onEnd } = BatchSpanProcessor.prototype;
  BatchSpanProcessor.prototype.onEnd = function (span) {
    processors.add(this);
    onEnd.call(this, span);
  };
  return {
    flush: () => Promise.all([...processors].map((processor) => processor.forceFlush())),
    restore: () => {
      BatchSpanProcessor.prototype.onEnd = onEnd;
    },
  };
}

export function attributeOf(span: ReceivedSpan, key: string): string | number | undefined {
  const value = span.attributes.find((attribute) => attribute.key === key)?.value;
  return value?.stringValue ?? (value?.intValue === undefined ? undefined : Number(value.intValue));
}

/** Names of the spans from the root of the trace to this span. */
export function pathTo(span: ReceivedSpan | undefined, trace: readonly ReceivedSpan[]): string[] {
  if (span === undefined) return [];
  const caller = trace.find(({ spanId }) => spanId === span.parentSpanId);
  return [...pathTo(caller, trace), span.name];
}
