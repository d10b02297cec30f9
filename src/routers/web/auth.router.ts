import { createApiToken, deleteApiToken, listApiTokens, setApiTokenActive } from '../../domain/access/manage-tokens.ts';
import type { ApiToken } from '../../domain/access/types.ts';
import { SuccessResponse, utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { TokenCreateRequest, TokenCreateResponse, TokenPath, TokenResponse } from './auth.schemas.ts';

const tags: [string] = ['auth'];

function toTokenResponse(token: ApiToken) {
  return {
    id: token.id,
    name: token.name,
    prefix: token.prefix,
    description: token.description,
    is_active: token.isActive,
    created_at: token.createdAt,
    updated_at: token.updatedAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
    last_used_ip: token.lastUsedIp,
    created_by: token.createdBy,
  };
}

export const authRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/tokens', tags, summary: 'List API tokens' } })
    .output(TokenResponse.array())
    .query(async ({ ctx }) => (await listApiTokens(ctx.app)).map(toTokenResponse)),

  create: auditedWebProcedure('tokens:create')
    .meta({ openapi: { method: 'POST', path: '/tokens', tags, summary: 'Create an API token; its text is shown once' } })
    .input(TokenCreateRequest)
    .output(TokenCreateResponse)
    .mutation(async ({ ctx, input }) => {
      const made = await createApiToken(ctx.app, ctx.actor, {
        name: input.name,
        description: input.description ?? null,
        expiresAt: input.expires_at ? utcDate(input.expires_at) : null,
      });
      return { ...toTokenResponse(made), token: made.token };
    }),

  revoke: auditedWebProcedure('tokens:edit')
    .meta({ openapi: { method: 'POST', path: '/tokens/{token_id}/revoke', tags, summary: 'Switch an API token off' } })
    .input(TokenPath)
    .output(TokenResponse)
    .mutation(async ({ ctx, input }) => toTokenResponse(await setApiTokenActive(ctx.app, ctx.actor, input.token_id, false))),

  activate: auditedWebProcedure('tokens:edit')
    .meta({ openapi: { method: 'POST', path: '/tokens/{token_id}/activate', tags, summary: 'Switch an API token on' } })
    .input(TokenPath)
    .output(TokenResponse)
    .mutation(async ({ ctx, input }) => toTokenResponse(await setApiTokenActive(ctx.app, ctx.actor, input.token_id, true))),

  delete: auditedWebProcedure('tokens:delete')
    .meta({ openapi: { method: 'DELETE', path: '/tokens/{token_id}', tags, summary: 'Delete an API token' } })
    .input(TokenPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteApiToken(ctx.app, ctx.actor, input.token_id);
      return { success: true as const };
    }),
});
