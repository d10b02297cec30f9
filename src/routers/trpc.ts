import { initTRPC, TRPCError } from '@trpc/server';
import { ZodError } from 'zod';
import type { Actor, AdminActor, TokenActor, UserActor } from '../core/actor.ts';
import { actorKey } from '../core/actor.ts';
import { repeatWhenLost } from '../core/db/db-errors.ts';
import { AppError, databaseUnavailable, type HttpError, isAppError, toHttp, ValidationError } from '../core/errors.ts';
import { areaClosed, unsupportedMediaType } from '../core/http/request-refusals.ts';
import { issuesFromZod } from '../core/validation-issues.ts';
import { authorizeAdmin, permissionDenied, roleNeedsSecondFactor } from '../domain/access/effective-access.ts';
import { addressNotAllowed, requireScope, scopeMissing } from '../domain/access/token-scopes.ts';
import { apiKeyInvalid, apiKeyMissing, authenticateToken } from '../domain/access/tokens.ts';
import {
  accessTokenInvalid,
  authenticateUser,
  authenticationRequired,
  identifyAdmin,
  initDataRefused,
} from '../domain/identity/authenticate.ts';
import { sessionEnded, userNotActive, userNotFound } from '../domain/identity/errors.ts';
import { secondFactorRequired } from '../domain/identity/second-factor/policy.ts';
import {
  freshSignInRequired,
  requireFreshSignIn,
  requireProofForSignInMethods,
} from '../domain/identity/sessions/fresh-sign-in.ts';
import { channelSubscriptionRequired } from '../domain/safety/channel-gate.ts';
import { maintenance } from '../domain/safety/maintenance.ts';
import { blacklisted } from '../domain/safety/published-lists.ts';
import { AuditTrail } from './audit-trail.ts';
import type { Context } from './context.ts';
import { type OperationArea, type OperationMeta, tokenScopeOf } from './operation-meta.ts';
import { readAgainWhenLost } from './read-again.ts';
import type {
  AdminProcedure,
  Admitted,
  AuditAction,
  ChangeAction,
  ReadingProcedure,
  WritingProcedure,
} from './reading-procedure.ts';

export { unaudited } from './reading-procedure.ts';

type TrpcCode = ConstructorParameters<typeof TRPCError>[0]['code'];

const CODES: Record<number, TrpcCode> = {
  // A poll before the confirmation: an error by its form, so it needs a code that does not count as a failure of the service.
  202: 'PRECONDITION_REQUIRED',
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  410: 'NOT_FOUND',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
};

/** Data of every error on `/trpc`, in addition to tRPC's own fields: the status and body of REST, plus the machine code. */
interface ErrorData {
  status: number;
  appCode: string;
  detail: HttpError['body']['detail'];
}

/** Status and body of a TRPCError: invalid input is 422, a refusal has its own status, everything else is 500. */
export function httpErrorOf(error: TRPCError, input: unknown): HttpError {
  const { cause } = error;
  if (error.code === 'BAD_REQUEST' && cause instanceof ZodError) {
    const detail = issuesFromZod(cause, input, (path) => ['body', ...path.map(String)]);
    return { status: 422, body: { detail }, headers: {}, code: 'validation_error' };
  }
  if (cause instanceof ZodError) return toHttp(null);
  if (cause && (isAppError(cause) || error.code === 'INTERNAL_SERVER_ERROR')) return toHttp(cause);
  const status = Number(Object.keys(CODES).find((key) => CODES[Number(key)] === error.code) ?? 500);
  if (status === 500) return toHttp(null);
  return { status, body: { detail: error.message }, headers: {}, code: error.code.toLowerCase() };
}

/** Headers that REST sends with these refusals (`Retry-After`, `WWW-Authenticate`); of a batch, the longest pause counts. */
export function headersOf(errors: readonly TRPCError[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const error of errors) {
    for (const [name, value] of Object.entries(httpErrorOf(error, undefined).headers)) {
      if (!(Number(found[name]) >= Number(value))) found[name] = value;
    }
  }
  return found;
}

const t = initTRPC
  .context<Context>()
  .meta<OperationMeta>()
  .create({
    isDev: false,
    errorFormatter: ({ shape, error, input }) => {
      const http = httpErrorOf(error, input);
      const data: ErrorData = { status: http.status, appCode: http.code, detail: http.body.detail };
      const { detail } = http.body;
      const message = typeof detail === 'string' ? detail : Array.isArray(detail) ? 'Validation failed' : detail.message;
      return { ...shape, message, data: { ...shape.data, ...data } };
    },
  });

export const router = t.router;

/** @param cause for the log only */
function refusalOf({ body, code, headers, status }: HttpError, cause: unknown): AppError {
  const { detail } = body;
  return Array.isArray(detail) ? new ValidationError(detail) : new AppError(code, status, detail, { headers, cause });
}

/** Assigns a refusal of a use case its tRPC code, so that `/trpc` answers with the status that REST has. */
const convertRefusals = t.middleware(async ({ next }) => {
  const result = await next();
  if (result.ok || result.error.code !== 'INTERNAL_SERVER_ERROR') return result;
  const { cause } = result.error;
  if (!cause || cause instanceof ZodError) return result;
  const http = toHttp(cause);
  const code = CODES[http.status];
  if (!code) return result;
  // An error of the database is replaced, because its text must not reach the client.
  const refusal = isAppError(cause) ? cause : refusalOf(http, cause);
  throw new TRPCError({ code, message: refusal.message, cause: refusal });
});

/**
 * `WEB_API_ENABLED` and `CABINET_ENABLED` close their operations as soon as they are changed, on both transports and for every
 * credential. Health and the mini-app, which need no API token, stay open while the Web API is disabled.
 */
const closeDisabledAreas = t.middleware(({ ctx, meta, next }) => {
  const isCabinet = meta?.area !== 'web' || meta.openapi?.path.startsWith('/cabinet');
  const isOpen = isCabinet
    ? ctx.app.settings.get('CABINET_ENABLED')
    : meta.auth === 'NONE' || ctx.app.settings.get('WEB_API_ENABLED');
  if (!isOpen) throw areaClosed();
  return next();
});

const base = t.procedure.use(convertRefusals).use(closeDisabledAreas);

/** The checks of a user behind the credential. */
const USER_GATES = [blacklisted, channelSubscriptionRequired, userNotActive, maintenance];
const SESSION_REFUSALS = [authenticationRequired, accessTokenInvalid, sessionEnded];
const USER_REFUSALS = [...SESSION_REFUSALS, ...USER_GATES, areaClosed];
const ADMIN_REFUSALS = [
  ...[...SESSION_REFUSALS, permissionDenied, roleNeedsSecondFactor],
  ...[maintenance, unsupportedMediaType, databaseUnavailable],
];
const PUBLIC_REFUSALS = [areaClosed];
const API_TOKEN_REFUSALS = [apiKeyMissing, apiKeyInvalid, addressNotAllowed, scopeMissing, areaClosed, databaseUnavailable];

/**
 * No credential: sign-in, public pages, health.
 * @param isPartOfCabinet of the Web API's area in the contract, and closed with the cabinet
 */
export const publicProcedure = (area: OperationArea, isPartOfCabinet = area === 'cabinet') =>
  base.meta({ area, auth: 'NONE', guardRefuses: isPartOfCabinet ? PUBLIC_REFUSALS : [] });

/** Of every operation that opens a session: a user with a second factor gets none by the first part alone (spec 01 section 4.7). */
export const SIGN_IN_GUARD = { guardName: 'SIGN_IN', guardRefuses: [areaClosed, secondFactorRequired] } as const;

/**
 * A user of the mini-app, authenticated by the messenger's signed data in the body. The data is part of the input, so the guard comes after it:
 * `miniappProcedure.meta(…).input(…).use(asMiniappUser())` (spec 02 section 12.1).
 */
export const miniappProcedure = base.meta({
  area: 'web',
  auth: 'NONE',
  credential: 'initData',
  guardRefuses: [initDataRefused, userNotFound, ...USER_GATES],
  wire: { anySpelling: true },
});
export const middleware = t.middleware;

async function identifyToken({ app, credentials, ip, seen }: Context): Promise<TokenActor> {
  const actor = await repeatWhenLost(app, () => authenticateToken(app, credentials, ip));
  seen.actor = actorKey(actor);
  return actor;
}

/** An API token in `X-API-Key` or `Authorization: Bearer` (spec 00, Credentials); for what only reads, see `ReadingProcedure`. */
export const webProcedure = base.meta({ area: 'web', auth: 'KEY', guardRefuses: API_TOKEN_REFUSALS }).use(async (call) => {
  const { ctx, next, meta, type } = call;
  const actor = await identifyToken(ctx);
  requireScope(actor, tokenScopeOf(meta!, type));
  return readAgainWhenLost(call, { ...ctx, actor }, (admitted) => next({ ctx: admitted }));
}) as unknown as ReadingProcedure<Admitted<TokenActor>>;

/**
 * An API token at an operation that affects every customer: tokens have no permissions, so each change is recorded in the audit log
 * like an administrator's (spec 06 section 17, hazard 19).
 * @param permission what an administrator needs for the same or, without such an operation, a name of that form; the
 *   row's `action`
 */
export const auditedWebProcedure = <P extends AuditAction>(permission: ChangeAction<P>): WritingProcedure<Admitted<TokenActor>> =>
  base.meta({ area: 'web', auth: 'KEY', recordedAs: permission, guardRefuses: API_TOKEN_REFUSALS }).use(async (call) => {
    const { ctx, next, type, meta, getRawInput } = call;
    const actor = await identifyToken(ctx);
    const trail = new AuditTrail({ ctx, actor, permission, isChange: type === 'mutation', meta, getRawInput });
    await trail.admit(() => requireScope(actor, tokenScopeOf(meta!, type)));
    const admitted = { ...ctx, app: { ...ctx.app, audit: trail }, actor };
    const result = await readAgainWhenLost(call, admitted, (context) => next({ ctx: context }));
    await trail.close(result.ok ? null : httpErrorOf(result.error, undefined));
    return result;
  });

/** A signed-in user behind the cabinet gate. */
export const cabinetProcedure = base.meta({ area: 'cabinet', auth: 'JWT', guardRefuses: USER_REFUSALS }).use(async (call) => {
  const { ctx, next, meta } = call;
  const actor: UserActor = await repeatWhenLost(ctx.app, () => authenticateUser(ctx.app, ctx.credentials));
  ctx.seen.actor = actorKey(actor);
  if (meta?.needsFreshSignIn) await requireProofForSignInMethods(ctx.app, actor);
  return readAgainWhenLost(call, { ...ctx, actor }, (admitted) => next({ ctx: admitted }));
});

/**
 * An administrator with the permission (spec 01 section 4.5). Every request, also a refused one, gets a row in the audit log with its
 * outcome. The row of a change is written before the answer is sent, all others in the background.
 * @param permission also the row's `action`; one to read returns a procedure from which no mutation can be made
 */
export const adminProcedure = <P extends AuditAction>(permission: P, area: OperationArea = 'admin') =>
  base.meta({ area, auth: 'JWT_ADMIN', permissions: [permission], guardRefuses: ADMIN_REFUSALS }).use(async (call) => {
    const { ctx, next, type, meta, getRawInput } = call;
    const { user, actor: signedIn } = await repeatWhenLost(ctx.app, () => identifyAdmin(ctx.app, ctx.credentials));
    ctx.seen.actor = `admin:${user.id}`;
    const audited = { kind: 'admin', userId: user.id } as const;
    const trail = new AuditTrail({ ctx, actor: audited, permission, isChange: type === 'mutation', meta, getRawInput });
    const actor: AdminActor = await trail.admit(async () => {
      const client = { ip: ctx.ip, session: signedIn.session ?? null };
      const admin = await repeatWhenLost(ctx.app, () => authorizeAdmin(ctx.app, user, permission, client));
      if (meta?.needsFreshSignIn) await requireFreshSignIn(ctx.app, signedIn);
      return admin;
    });
    const admitted = { ...ctx, app: { ...ctx.app, audit: trail }, actor };
    const result = await readAgainWhenLost(call, admitted, (context) => next({ ctx: context }));
    await trail.close(result.ok ? null : httpErrorOf(result.error, undefined));
    return result;
  }) as unknown as AdminProcedure<Admitted<AdminActor>, P>;

const FRESH_ADMIN_REFUSALS = [...ADMIN_REFUSALS, freshSignInRequired];
const FRESH_USER_REFUSALS = [...USER_REFUSALS, freshSignInRequired];

/** What an administrator cannot undo (spec 01 section 4.6): payouts, settings of money and providers, rights, deletion of accounts. */
export const freshAdminProcedure = <P extends AuditAction>(permission: ChangeAction<P>) =>
  adminProcedure<P>(permission).meta({
    needsFreshSignIn: true,
    guardName: 'FRESH',
    guardRefuses: FRESH_ADMIN_REFUSALS,
  }) as AdminProcedure<Admitted<AdminActor>, P>;

/** Changes the ways to sign in: to an administrator's account, a stolen session must not add one of its thief. */
export const freshCabinetProcedure = cabinetProcedure.meta({
  needsFreshSignIn: true,
  guardName: 'FRESH',
  guardRefuses: FRESH_USER_REFUSALS,
});

/** A base procedure typed by its actor only, for groups that several areas share. */
export type ProcedureFor<A extends Actor> = WritingProcedure<Admitted<A>>;
/** The same for what only reads. */
export type ReaderFor<A extends Actor> = ReadingProcedure<Admitted<A>>;

/**
 * Lets one function make the routers of two areas: `procedureFor(auditedWebProcedure('x:edit'))` and `procedureFor(adminProcedure('x:edit'))`
 * are alike to a group whose use cases take either actor. tRPC's builder is invariant in its context, hence the cast.
 */
export function procedureFor<A extends Actor>(procedure: { readonly _def: object; readonly mutation: object }): ProcedureFor<A> {
  return procedure as unknown as ProcedureFor<A>;
}

/** As `procedureFor`, for what only reads. */
export function readerFor<A extends Actor>(procedure: { readonly _def: object }): ReaderFor<A> {
  return procedure as unknown as ReaderFor<A>;
}
