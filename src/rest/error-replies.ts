/** What a client gets for a failed call. The only place where REST turns a thrown value into status and body. */
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { isDatabaseUnavailable } from '../core/db/db-errors.ts';
import { type AppError, type HttpError, isAppError, toHttp, type ValidationIssue } from '../core/errors.ts';

/** Where failures of the service (`error`) and temporary refusals (`warn`) go. pino's loggers fit. */
export interface ErrorLog {
  error(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/**
 * Receives every refused call of a procedure: what the client was answered. Given by tests, which compare the documented refusals
 * with the observed ones; a production server has none.
 * @param operation dotted path of the procedure
 */
export type RefusalObserver = (operation: string, answer: HttpError) => void;

/** Maps zod's refusal of the procedure's input to the entries of the 422 answer. */
export type ExplainInput = (error: z.core.$ZodError) => ValidationIssue[];

const BODY_TOO_LARGE = new Set(['FST_ERR_CTP_BODY_TOO_LARGE', 'FST_REQ_FILE_TOO_LARGE']);

/**
 * Code *and* cause decide: wrong input and wrong output of a procedure both carry a ZodError, but the second is a bug of the service.
 * @param explain left out where no input was parsed
 */
function restError(error: unknown, explain?: ExplainInput): HttpError {
  if (!isTrpcError(error)) return isAppError(error) && !isFastifyError(error) ? toHttp(error) : frameworkError(error);
  const cause = error.cause;
  if (error.code === 'BAD_REQUEST' && cause instanceof z.core.$ZodError && explain) {
    return { status: 422, body: { detail: explain(cause) }, headers: {}, code: 'validation_error' };
  }
  if (isAppError(cause)) return toHttp(cause);
  if (isFastifyError(cause)) return frameworkError(cause);
  if (error.code === 'INTERNAL_SERVER_ERROR' || cause instanceof z.core.$ZodError) return toHttp(cause);
  // Thrown as a transport error on purpose (a guard): its text is meant for the client.
  const status = getHTTPStatusCodeFromError(error as Parameters<typeof getHTTPStatusCodeFromError>[0]);
  return { status, body: { detail: error.message }, headers: {}, code: error.code.toLowerCase() };
}

/** By structure, as in tRPC: only the router layer may import the class. */
function isTrpcError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === 'TRPCError' && 'code' in error;
}

function isFastifyError(error: unknown): error is Error & { code: string; statusCode?: number } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_');
}

function frameworkError(error: unknown): HttpError {
  // A raw route (a callback, the sandbox page) has no procedure around it that would name a lost database.
  if (!isFastifyError(error)) return toHttp(isDatabaseUnavailable(error) ? error : undefined);
  const answer = (status: number, detail: string): HttpError => ({
    status,
    body: { detail },
    headers: {},
    code: error.code.toLowerCase(),
  });
  if (BODY_TOO_LARGE.has(error.code)) return answer(413, 'Request body too large');
  if (error.statusCode === 415 || error.statusCode === 406) return answer(415, 'Unsupported Media Type');
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return answer(error.statusCode, 'Bad Request');
  return toHttp(undefined);
}

/** Sends the answer and logs it when it is a failure of the service or a temporary refusal (500 and above). */
export function sendError(
  reply: FastifyReply,
  log: ErrorLog,
  operation: string,
  error: unknown,
  explain?: ExplainInput,
  observe?: RefusalObserver,
): void {
  let answer: HttpError;
  try {
    answer = restError(error, explain);
  } catch (mapping) {
    log.error({ err: mapping, operation }, 'error mapping failed');
    answer = toHttp(mapping);
  }
  observe?.(operation, answer);
  if (answer.status >= 500)
    logFailure(log, answer, { operation, requestId: reply.request.id, status: answer.status }, logged(error));
  if (reply.sent) return;
  reply
    .code(answer.status)
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .send(errorText(bodyFor(reply, answer.body)));
}

/** On the mount the names in it are the client's. */
function bodyFor({ request }: FastifyReply, body: HttpError['body']): HttpError['body'] {
  const words = request.mount?.words;
  return words === undefined ? body : (words.refusal(body) as HttpError['body']);
}

/** An intended 503 (maintenance, an unavailable panel) occurs with every request of an outage: one line each, no stack. */
export function logRefusal(log: ErrorLog, refusal: AppError, line: object): void {
  const reason = refusal.cause instanceof Error ? refusal.cause.message : undefined;
  log.warn({ ...line, code: refusal.code, reason }, 'request refused');
}

function logFailure(log: ErrorLog, answer: HttpError, line: object, cause: unknown): void {
  if (answer.status > 500 && isAppError(cause)) logRefusal(log, cause, line);
  else if (isDatabaseUnavailable(cause))
    log.warn({ ...line, code: answer.code, reason: (cause as Error).message }, 'request refused');
  else log.error({ ...line, err: cause }, 'request failed');
}

/** The original failure is the cause of tRPC's error. */
function logged(error: unknown): unknown {
  return isTrpcError(error) && error.cause !== undefined ? error.cause : error;
}

/** `input` of a 422 entry is the client's value; where JSON cannot represent it (nested too deeply, a bigint) it is left out. */
function errorText(body: HttpError['body']): string {
  try {
    return JSON.stringify(body);
  } catch {
    const detail = Array.isArray(body.detail) ? body.detail.map((issue) => ({ ...issue, input: null })) : 'Internal Server Error';
    return JSON.stringify({ detail });
  }
}
