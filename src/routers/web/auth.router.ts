import { z } from 'zod';
import { createApiToken, deleteApiToken, listApiTokens, setApiTokenActive, tokenNotFound } from '../../domain/access/tokens.ts';
import type { ApiToken } from '../../domain/access/types.ts';
import { SuccessResponse, Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `auth`: API tokens. */

const TokenPath = z.object({ token_id: z.int().describe('Id of the API token.') });

const TokenCreateRequest = z
  .object({
    name: z.string().describe('Name of the token, shown in lists and in the audit log. Trimmed.'),
    description: z.string().nullish().describe('What the token is for; null for nothing.'),
    expires_at: TimestampInput.nullish().describe(
      'When the token stops working (UTC, in the future); null for a token without end.',
    ),
  })
  .meta({
    id: 'TokenCreateRequest',
    example: { name: 'Support bot', description: 'Reads users and tickets', expires_at: '2027-01-31T12:00:00Z' },
  });

const TokenResponse = z
  .object({
    id: z.int().describe('Id of the API token.'),
    name: z.string().describe('Name of the API token, shown in lists and in the audit log.'),
    prefix: z.string().describe('First 8 characters of the token, to recognise it by.'),
    description: z.string().nullish().describe('What the token is for; null for nothing.'),
    is_active: z.boolean().describe('Whether requests with the token are accepted until `expires_at`; a revoked one is refused.'),
    created_at: Timestamp.describe('When the API token was created (UTC).'),
    updated_at: Timestamp.nullish().describe(
      'When the API token was last changed (UTC), for example revoked; uses do not count.',
    ),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
    last_used_at: Timestamp.nullish().describe('When the token was last used (UTC), to the minute; null when it never was.'),
    last_used_ip: z.string().nullish().describe('Address that last used the token; null when it was never used.'),
    created_by: z
      .string()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
  })
  .meta({ id: 'TokenResponse' });

const TokenCreateResponse = TokenResponse.extend({
  token: z.string().describe('The token itself. Returned once; only a hash is stored.'),
}).meta({ id: 'TokenCreateResponse' });

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
