/** One refused field of an input: `path` joins keys and array indexes by dots. */
export interface FieldError {
  path: string;
  message: string;
  /** Kind of the failure, for own texts: `missing`, `string_too_short`, `greater_than_equal`, … */
  type: string;
  /** The bound that was broken, for own texts: `{ min_length: 8 }`. */
  bounds: Record<string, unknown>;
}

/** The `detail` of the service: a sentence, an object with code and message, or the issues of a refused input. */
export type ErrorDetail = string | ({ code: string; message: string } & Record<string, unknown>) | Record<string, unknown>[];

export interface CabinetErrorFacts {
  status: number;
  code: string;
  detail: ErrorDetail;
  retryAfterSeconds?: number | null;
  idempotencyKey?: string | null;
  cause?: unknown;
}

/** Every failure of a call: a refusal of the service, or a missing answer. */
export class CabinetError extends Error {
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /**
   * Machine code of the refusal (`insufficient_funds`, `validation_error`, …), or one of the client: `network_error`,
   * `timeout`, `aborted`, `bad_answer`.
   */
  readonly code: string;
  readonly detail: ErrorDetail;
  /** Refused fields; empty unless `code` is `validation_error`. */
  readonly fieldErrors: FieldError[];
  /** Seconds to wait after a 429, where the service sends it. */
  readonly retryAfterSeconds: number | null;
  /** Key of a money mutation: pass it to repeat a call whose outcome is unknown. */
  readonly idempotencyKey: string | null;

  constructor(facts: CabinetErrorFacts) {
    super(messageOf(facts.detail), { cause: facts.cause });
    this.name = 'CabinetError';
    this.status = facts.status;
    this.code = facts.code;
    this.detail = facts.detail;
    this.fieldErrors = Array.isArray(facts.detail) ? facts.detail.map(fieldErrorOf) : [];
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.idempotencyKey = facts.idempotencyKey ?? null;
  }

  /** No answer, or one of a proxy or a service that is down: the same call may succeed later. */
  get isTransient(): boolean {
    return this.code === 'network_error' || this.code === 'timeout' || [502, 503, 504].includes(this.status);
  }
}

function messageOf(detail: ErrorDetail): string {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return detail.message;
  return detail
    .map(fieldErrorOf)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
}

/** The first part of `loc` says where the value was (`body`, `query`, …); the field's path is the rest. */
function fieldErrorOf(issue: Record<string, unknown>): FieldError {
  const loc = Array.isArray(issue.loc) ? issue.loc.map(String) : [];
  const bounds = typeof issue.ctx === 'object' && issue.ctx !== null ? (issue.ctx as Record<string, unknown>) : {};
  return { path: loc.slice(1).join('.'), message: String(issue.msg ?? 'Invalid value'), type: String(issue.type ?? ''), bounds };
}

/** Reads a `detail` of unknown shape. @returns null for any other shape */
export function errorDetailOf(value: unknown): ErrorDetail | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null);
  if (typeof value !== 'object' || value === null) return null;
  const detail = value as Record<string, unknown>;
  return typeof detail.message === 'string' ? { ...detail, code: String(detail.code ?? ''), message: detail.message } : null;
}
