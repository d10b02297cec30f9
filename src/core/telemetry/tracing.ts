/** Spans as the service uses them. Without a collector every function does nothing, and no OpenTelemetry SDK is loaded. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';

/** A span that has begun. Attributes never contain what a client sent, ids of users, hosts, parameters of SQL, or messages of errors. */
export interface OpenSpan {
  setName(name: string): void;
  set(attributes: SpanAttributes): void;
  /** @param kind of the failure, without its text */
  fail(kind: string): void;
  end(): void;
}

/** The part of a trace that this process makes. Only traces that are recorded have spans (`OTEL_TRACES_SAMPLER_ARG`). */
export interface Tracing {
  readonly isOn: boolean;
  /**
   * Begins the span of an HTTP request.
   * @param traceparent header of the request, which counts as `TRACE_INCOMING` says
   * @returns null when the trace is not recorded
   */
  startRequest(name: string, attributes: SpanAttributes, traceparent: string | undefined): OpenSpan | null;
  /** Runs `work` with this span as the current one. */
  within<T>(span: OpenSpan, work: () => T): T;
  /** Runs a job as a part of the trace in which it was sent, else in a trace of its own. @param traceparent stored with the job */
  inJob<T>(name: string, attributes: SpanAttributes, traceparent: string | null, work: () => Promise<T>): Promise<T>;
  /** Runs `work` as a span of the current trace; without a current one it only runs. */
  inSpan<T>(kind: SpanKind, name: string, attributes: SpanAttributes, work: (span: OpenSpan | null) => Promise<T>): Promise<T>;
  /** The current span as `traceparent` (W3C Trace Context); null = none. */
  traceparent(): string | null;
  /** Whether calls to this system get the header `traceparent`. */
  isSentTo(system: string): boolean;
  /** Sends what waits, for some seconds at most. */
  close(): Promise<void>;
}

export const NO_TRACING: Tracing = {
  isOn: false,
  startRequest: () => null,
  within: (_span, work) => work(),
  inJob: (_name, _attributes, _traceparent, work) => work(),
  inSpan: (_kind, _name, _attributes, work) => work(null),
  traceparent: () => null,
  isSentTo: () => false,
  close: async () => undefined,
};

/** Kind of an error for a span: its class and code, or the `failure` of an outside system; never its message. */
export function errorKind(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, failure } = error as { code?: unknown; failure?: unknown };
  const more = typeof code === 'string' ? code : failure;
  return typeof more === 'string' && /^\w{1,40}$/.test(more) ? `${error.name} ${more}` : error.name;
}

/** Version 00: trace, span, flags. All zeros are not valid. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface TraceContext {
  traceId: string;
  spanId: string;
  isRecorded: boolean;
}

/** @returns null for anything but a valid `traceparent` of version 00 */
export function readTraceparent(text: string | null | undefined): TraceContext | null {
  const match = text ? TRACEPARENT.exec(text) : null;
  return match && { traceId: match[1]!, spanId: match[2]!, isRecorded: (Number.parseInt(match[3]!, 16) & 1) === 1 };
}

export function writeTraceparent({ traceId, spanId }: { traceId: string; spanId: string }): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Key of the stored payload of a job under which its trace is kept (`send_job()` in prisma/sql/jobs.sql). No payload has it. */
export const TRACE_KEY = '_traceparent';

/** Separates the trace from the payload of a stored job. */
export function splitTrace(data: unknown): { payload: unknown; traceparent: string | null } {
  if (typeof data !== 'object' || data === null || !(TRACE_KEY in data)) return { payload: data, traceparent: null };
  const { [TRACE_KEY]: traceparent, ...payload } = data as Record<string, unknown>;
  return { payload, traceparent: typeof traceparent === 'string' ? traceparent : null };
}
