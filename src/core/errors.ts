import { isDatabaseUnavailable, isRetryable, isUnstorableText } from './db/db-errors.ts';

/**
 * Typed refusals. Domain code declares them (`refusal`) and throws `AppError`; one mapper (`toHttp`) feeds REST, tRPC and the sockets,
 * so a rule has the same status and `detail` on every interface (spec 00, HTTP).
 */

/** `detail` of an error body: a sentence, or an object that carries a machine code. */
export type ErrorDetail = string | ({ code: string; message: string } & Record<string, unknown>);

/** One entry of a 422 body (spec 00): where the invalid value is, what is wrong with it and which bound it exceeds. */
export interface ValidationIssue {
  loc: string[];
  msg: string;
  type: string;
  input: unknown;
  ctx?: Record<string, unknown>;
}

export class AppError extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: ErrorDetail;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: string,
    status: number,
    detail: ErrorDetail,
    options: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(typeof detail === 'string' ? detail : detail.message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.headers = options.headers ?? {};
  }
}

/** Input that the schema cannot see is wrong (cross-field rules); answered as 422 in the shape of spec 00. */
export class ValidationError extends AppError {
  readonly issues: ValidationIssue[];

  constructor(issues: ValidationIssue[]) {
    super('validation_error', 422, issues[0]?.msg ?? 'Validation failed');
    this.name = 'ValidationError';
    this.issues = issues;
  }
}

/** What the document says of a refusal. A factory has it, see `refusal`. */
export interface DeclaredRefusal {
  /** Machine code for logs and for tRPC clients; REST shows only `detail`. */
  readonly code: string;
  readonly status: number;
  /** The sample of the document. */
  readonly detail: ErrorDetail;
}

/** What one error has of its own. */
export interface RefusalValues {
  /** Where it contains values or is in the user's language. */
  detail?: ErrorDetail;
  headers?: Record<string, string>;
  /** For the log. */
  cause?: unknown;
}

/** Makes the errors of one refusal, and is its declaration: procedures name it in `refuses`. */
export interface Refusal<A extends unknown[] = [values?: RefusalValues]> extends DeclaredRefusal {
  (...values: A): AppError;
}

/**
 * Declares a refusal where it is thrown: `const tariffNotFound = refusal('tariff_not_found', 404, 'Tariff not found')`, then
 * `throw tariffNotFound()`.
 * @param detail what is answered unless an error has a detail of its own, and the sample of the document. `<n>` is a number that varies
 * @param valuesOf makes the values of an error from the arguments of the factory; without it the values are its argument
 */
export function refusal(code: string, status: number, detail: ErrorDetail): Refusal;
export function refusal<A extends unknown[]>(
  code: string,
  status: number,
  detail: ErrorDetail,
  valuesOf: (...args: A) => RefusalValues,
): Refusal<A>;
export function refusal(
  code: string,
  status: number,
  detail: ErrorDetail,
  valuesOf: (...args: never[]) => RefusalValues = (values: RefusalValues = {}) => values,
): Refusal<never[]> {
  const make = (...args: never[]) => {
    const values = valuesOf(...args);
    return new AppError(code, status, values.detail ?? detail, values);
  };
  return Object.assign(make, { code, status, detail });
}

/** Structural check, so that an error from a second copy of this module is still recognised. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name !== 'TRPCError' && 'status' in error && 'detail' in error && 'code' in error;
}

export interface HttpError {
  status: number;
  body: { detail: ErrorDetail | ValidationIssue[] };
  headers: Readonly<Record<string, string>>;
  code: string;
}

/**
 * For a `catch` that turns failures into refusals: an error of a database that is unavailable stays what it is, so that the caller gets 503 and
 * nothing is done about a failure that did not happen (spec 10 D1; scripts/check-catches.ts).
 * @throws the given error when the database is unavailable, or when a transaction met others each time
 */
export function rethrowUnavailable(error: unknown): void {
  // The errors of outside systems have it: an unreachable provider is not the database.
  if (error instanceof Error && 'failure' in error) return;
  if (isDatabaseUnavailable(error) || isRetryable(error)) throw error;
}

/** A new primary accepts writes after 4 s (switchover) to 20 s (lost node). */
const RETRY_AFTER_SECONDS = '5';
export const databaseUnavailable = refusal(
  'database_unavailable',
  503,
  'Service temporarily unavailable. Please try again later.',
  () => ({ headers: { 'Retry-After': RETRY_AFTER_SECONDS } }),
);

/** Clients read the machine code of an object under either name (spec 10 U5). */
export function shownDetail(detail: ErrorDetail): ErrorDetail {
  return typeof detail === 'string' ? detail : { ...detail, error_code: detail.code };
}

/** Maps any thrown value to what a client may see. Unknown errors are 500 without details. */
export function toHttp(error: unknown): HttpError {
  if (error instanceof ValidationError) {
    return { status: 422, body: { detail: error.issues }, headers: error.headers, code: error.code };
  }
  if (isAppError(error)) {
    return { status: error.status, body: { detail: shownDetail(error.detail) }, headers: error.headers, code: error.code };
  }
  if (isUnstorableText(error)) {
    const msg = 'Text must not hold the NUL character or half a surrogate pair';
    const issue = { loc: ['body'], type: 'value_error', msg, input: null };
    return { status: 422, body: { detail: [issue] }, headers: {}, code: 'validation_error' };
  }
  // A transaction that met others each of five times (`retried`) was rolled back, and may succeed later.
  if (isDatabaseUnavailable(error) || isRetryable(error)) {
    return toHttp(databaseUnavailable());
  }
  return { status: 500, body: { detail: 'Internal Server Error' }, headers: {}, code: 'internal_error' };
}
