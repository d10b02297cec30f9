import { createApiToken, deleteApiToken, listApiTokens, setApiTokenActive, tokenNotFound } from '../../domain/access/tokens.ts';
import type { ApiToken } from '../../domain/access/types.ts';
import { SuccessResponse, utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { TokenCreateRequest, TokenCreateResponse, TokenPath, TokenResponse } from './auth.schemas.ts';

const tags: [string] = ['auth'];

const toTokenResponse = ({ tokenPrefix, ...token }: ApiToken) => ({ ...token, prefix: tokenPrefix });

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
        'Creates an active API token and returns it once in `token`; only its hash is stored. The name of the calling token is recorded as creator.',
    })
    .input(fromWire(TokenCreateRequest))
    .output(toWire(TokenCreateResponse))
    .mutation(async ({ ctx, input }) => {
      const expiresAt = input.expiresAt ? utcDate(input.expiresAt) : null;
      const made = await createApiToken(ctx.app, ctx.actor, { ...input, description: input.description ?? null, expiresAt });
      return { ...toTokenResponse(made), token: made.token };
    }),

  revoke: auditedWebProcedure('tokens:edit')
    .meta({
      openapi: { method: 'POST', path: '/tokens/{token_id}/revoke', tags, summary: 'Deactivate an API token' },
      description:
        'Revokes a token: it is refused from now on and its open feeds are closed. Repeating the call changes nothing. A token may revoke itself.',
      refuses: [tokenNotFound],
    })
    .input(fromWire(TokenPath))
    .output(toWire(TokenResponse))
    .mutation(async ({ ctx, input }) => toTokenResponse(await setApiTokenActive(ctx.app, ctx.actor, input.tokenId, false))),

  activate: auditedWebProcedure('tokens:edit')
    .meta({
      openapi: { method: 'POST', path: '/tokens/{token_id}/activate', tags, summary: 'Activate an API token' },
      description: 'Activates a token again. Repeating the call changes nothing.',
      refuses: [tokenNotFound],
    })
    .input(fromWire(TokenPath))
    .output(toWire(TokenResponse))
    .mutation(async ({ ctx, input }) => toTokenResponse(await setApiTokenActive(ctx.app, ctx.actor, input.tokenId, true))),

  delete: auditedWebProcedure('tokens:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/tokens/{token_id}', tags, summary: 'Delete an API token' },
      description:
        'Deletes a token permanently. The token of the setting `WEB_API_DEFAULT_TOKEN` is created again at its next use.',
      refuses: [tokenNotFound],
    })
    .input(fromWire(TokenPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteApiToken(ctx.app, ctx.actor, input.tokenId);
      return { success: true as const };
    }),
});
