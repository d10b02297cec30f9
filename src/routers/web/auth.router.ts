import { tokenBeyondLimits } from '../../domain/access/token-scopes.ts';
import {
  changeApiToken,
  createApiToken,
  defaultTokenFixed,
  deleteApiToken,
  listApiTokens,
  rotateApiToken,
  setApiTokenActive,
  tokenNotFound,
} from '../../domain/access/tokens.ts';
import { SuccessResponse, utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  TokenCreateRequest,
  TokenCreateResponse,
  TokenPath,
  TokenResponse,
  TokenRotateRequest,
  TokenUpdateRequest,
  toTokenRequest,
  toTokenResponse,
} from './auth.schemas.ts';

/** Contract group `auth`: API tokens. */

const tags: [string] = ['auth'];
const limitTags: [string] = ['api-token-limits'];

export const authRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/tokens', tags, summary: 'List API tokens' },
      description: 'Lists all API tokens, inactive ones included, newest first. The tokens themselves are never returned again.',
    })
    .output(toWire(TokenResponse.array()))
    .query(async ({ ctx }) => (await listApiTokens(ctx.app)).map(toTokenResponse)),

  create: auditedWebProcedure('tokens:create')
    .meta({
      openapi: { method: 'POST', path: '/tokens', tags, summary: 'Create an API token; its text is shown once' },
      description:
        'Creates an active API token and returns it once in `token`; only its hash is stored. The name of the calling token is recorded as creator. A token with limits can only make tokens that may do no more than itself.',
      refuses: [tokenBeyondLimits],
    })
    .input(fromWire(TokenCreateRequest))
    .output(toWire(TokenCreateResponse))
    .mutation(async ({ ctx, input }) => {
      const made = await createApiToken(ctx.app, ctx.actor, toTokenRequest(input));
      return { ...toTokenResponse(made), token: made.token };
    }),

  revoke: auditedWebProcedure('tokens:edit')
    .meta({
      openapi: { method: 'POST', path: '/tokens/{token_id}/revoke', tags, summary: 'Deactivate an API token' },
      description:
        'Revokes a token: it is refused from now on and its open feeds are closed. Repeating the call changes nothing. A token may revoke itself.',
      refuses: [tokenNotFound, tokenBeyondLimits],
    })
    .input(fromWire(TokenPath))
    .output(toWire(TokenResponse))
    .mutation(async ({ ctx, input }) => toTokenResponse(await setApiTokenActive(ctx.app, ctx.actor, input.tokenId, false))),

  activate: auditedWebProcedure('tokens:edit')
    .meta({
      openapi: { method: 'POST', path: '/tokens/{token_id}/activate', tags, summary: 'Activate an API token' },
      description: 'Activates a token again. Repeating the call changes nothing.',
      refuses: [tokenNotFound, tokenBeyondLimits],
    })
    .input(fromWire(TokenPath))
    .output(toWire(TokenResponse))
    .mutation(async ({ ctx, input }) => toTokenResponse(await setApiTokenActive(ctx.app, ctx.actor, input.tokenId, true))),

  delete: auditedWebProcedure('tokens:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/tokens/{token_id}', tags, summary: 'Delete an API token' },
      description:
        'Deletes a token permanently. The token of the setting `WEB_API_DEFAULT_TOKEN` is created again at its next use.',
      refuses: [tokenNotFound, tokenBeyondLimits],
    })
    .input(fromWire(TokenPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteApiToken(ctx.app, ctx.actor, input.tokenId);
      return { success: true as const };
    }),
});

/** Beside the contract. */
export const apiTokenLimitsRouter = router({
  change: auditedWebProcedure('tokens:edit')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/tokens/{token_id}',
        tags: limitTags,
        summary: 'Change name, end, scopes or addresses of a token',
      },
      description:
        'Changes a token at once, on every instance; what is absent stays. A token with limits can only change tokens that may do no more than itself, before and after.',
      refuses: [tokenNotFound, defaultTokenFixed, tokenBeyondLimits],
      scopeGroup: 'auth',
    })
    .input(fromWire(withBody(TokenPath, TokenUpdateRequest)))
    .output(toWire(TokenResponse))
    .mutation(async ({ ctx, input: { tokenId, expiresAt, ...change } }) => {
      const end = expiresAt === undefined ? {} : { expiresAt: expiresAt ? utcDate(expiresAt) : null };
      return toTokenResponse(await changeApiToken(ctx.app, ctx.actor, tokenId, { ...change, ...end }));
    }),

  rotate: auditedWebProcedure('tokens:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/tokens/{token_id}/rotate',
        tags: limitTags,
        summary: 'Give a token another text; it is shown once',
      },
      description:
        'Replaces the text of a token and returns the new one once in `token`. The present text stays valid for `overlap_minutes`, so that programs can change over; a text before it ends at once. A token may rotate itself.',
      refuses: [tokenNotFound, defaultTokenFixed, tokenBeyondLimits],
      scopeGroup: 'auth',
      wire: { bodyOptional: true },
    })
    .input(fromWire(withBody(TokenPath, TokenRotateRequest)))
    .output(toWire(TokenCreateResponse))
    .mutation(async ({ ctx, input }) => {
      const made = await rotateApiToken(ctx.app, ctx.actor, input.tokenId, input.overlapMinutes);
      return { ...toTokenResponse(made), token: made.token };
    }),
});
