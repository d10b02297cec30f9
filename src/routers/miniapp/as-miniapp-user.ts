import { actorKey } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { AppError, type DeclaredRefusal, isAppError, refusal } from '../../core/errors.ts';
import { authenticateMiniapp } from '../../domain/identity/authenticate.ts';
import { text } from '../../domain/messaging/texts.ts';
import { middleware } from '../trpc.ts';

const userNotFound = refusal('user_not_found', 404, 'User not found');

/** Machine codes of the use cases that have another name in the mini-app, some also another status. */
export type Renames = Readonly<Record<string, string | { code: string; status: number }>>;

/**
 * The guard of a mini-app call: signed identity, then the gates of the cabinet. All refusals, also those of the use case, are answered as
 * `{code, message}` (spec 02 section 12.1, style B).
 */
export const asMiniappUser = (renames: Renames = {}) =>
  middleware(async ({ ctx, input, next }) => {
    try {
      const actor = await authenticateMiniapp(ctx.app, initDataOf(input));
      ctx.seen.actor = actorKey(actor);
      const result = await next({ ctx: { ...ctx, actor } });
      if (!result.ok && isAppError(result.error.cause)) throw result.error.cause;
      return result;
    } catch (error) {
      throw isAppError(error) ? coded(error, renames) : error;
    }
  });

/**
 * The same guard for the operations that answer refusals of the identity as plain sentences (spec 02 section 12.1, style A).
 * @param explains an unknown user gets a message where to begin (section 12.3)
 */
export const asMiniappCaller = ({ explains = false } = {}) =>
  middleware(async ({ ctx, input, next }) => {
    try {
      const actor = await authenticateMiniapp(ctx.app, initDataOf(input));
      ctx.seen.actor = actorKey(actor);
      return await next({ ctx: { ...ctx, actor } });
    } catch (error) {
      throw explains && isAppError(error) && error.code === 'user_not_found' ? unknownCaller(ctx.app, error) : error;
    }
  });

function unknownCaller(app: App, cause: AppError): AppError {
  const purchaseUrl = app.settings.get('MINIAPP_PURCHASE_URL').trim();
  const detail = {
    code: 'user_not_found',
    message: text(null, 'errors.miniapp_user_unknown'),
    title: text(null, 'errors.miniapp_user_unknown_title'),
    ...(purchaseUrl === '' ? {} : { purchase_url: purchaseUrl }),
  };
  return userNotFound({ detail, cause });
}

/** The credential among the parsed input, in the spelling of the operation. */
function initDataOf(input: unknown): string {
  const { initData, init_data } = input as { initData?: string; init_data?: string };
  return initData ?? init_data ?? '';
}

/** Refusals as `asMiniappUser` answers them, for the declaration of an operation. */
export const inMiniapp = (declared: readonly DeclaredRefusal[], renames: Renames = {}): DeclaredRefusal[] =>
  declared.map((refused) => codedAs(refused, renames));

/** The same refusal with its machine code in the body. Bad input keeps its list. */
function coded(error: AppError, renames: Renames): AppError {
  if (error.status === 422) return error;
  const { code, status, detail } = codedAs(error, renames);
  return new AppError(code, status, detail, { headers: { ...error.headers }, cause: error.cause });
}

function codedAs(refused: DeclaredRefusal, renames: Renames): DeclaredRefusal {
  const known = renames[refused.code] ?? refused.code;
  const { code, status } = typeof known === 'string' ? { code: known, status: refused.status } : known;
  const detail = typeof refused.detail === 'string' ? { code, message: refused.detail } : { ...refused.detail, code };
  return { code, status, detail };
}
