import { z } from 'zod';
import { TOKEN_SCOPES, tokenBeyondLimits } from '../../domain/access/token-scopes.ts';
import {
  changeApiToken,
  createApiToken,
  DEFAULT_OVERLAP_MINUTES,
  defaultTokenFixed,
  deleteApiToken,
  listApiTokens,
  MAX_OVERLAP_MINUTES,
  rotateApiToken,
  setApiTokenActive,
  tokenNotFound,
} from '../../domain/access/tokens.ts';
import type { ApiToken } from '../../domain/access/types.ts';
import { SuccessResponse, Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `auth`: API tokens. */

const TokenPath = z.object({ token_id: z.int().describe('Id of the API token.') });

const TokenScopes = z
  .array(z.enum(TOKEN_SCOPES as [string, ...string[]]))
  .min(1)
  .nullish()
  .describe(
    'What the token may do: `GROUP:read` and `GROUP:write` of the groups of operations, `balance:write` for the balance of users, `feed:read` for `/ws`. Null: everything.',
  );
const AllowedAddresses = z
  .array(z.string())
  .min(1)
  .max(50)
  .nullish()
  .describe('IP addresses and CIDR ranges from which the token is valid; null for everywhere.');

const TokenCreateRequest = z
  .object({
    name: z.string().describe('Name of the token, shown in lists and in the audit log. Trimmed.'),
    description: z.string().nullish().describe('What the token is for; null for nothing.'),
    expires_at: TimestampInput.nullish().describe(
      'When the token stops working (UTC, in the future); null for a token without end.',
    ),
    scopes: TokenScopes,
    allowed_addresses: AllowedAddresses,
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
    scopes: z.array(z.string()).nullish().describe('What the token may do; null for everything.'),
    allowed_addresses: z
      .array(z.string())
      .nullish()
      .describe('IP addresses and CIDR ranges from which the token is valid; null for everywhere.'),
    previous_until: Timestamp.nullish().describe(
      'Until when the text before the last rotation is valid (UTC); null when the token was never rotated.',
    ),
  })
  .meta({ id: 'TokenResponse' });

const TokenUpdateRequest = z
  .object({
    name: z.string().optional().describe('New name; absent to keep it. Trimmed.'),
    description: z.string().nullish().describe('What the token is for; null for nothing, absent to keep it.'),
    expires_at: TimestampInput.nullish().describe('New end (UTC, in the future); null for none, absent to keep it.'),
    scopes: TokenScopes,
    allowed_addresses: AllowedAddresses,
  })
  .meta({
    id: 'TokenUpdateRequest',
    example: { scopes: ['users:read', 'support:write'], allowed_addresses: ['203.0.113.0/24'] },
  });

const TokenRotateRequest = z
  .object({
    overlap_minutes: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_MINUTES)
      .default(DEFAULT_OVERLAP_MINUTES)
      .describe('Minutes for which the present text stays valid; 0 for not at all.'),
  })
  .meta({ id: 'TokenRotateRequest', example: { overlap_minutes: 60 } });

const TokenCreateResponse = TokenResponse.extend({
  token: z.string().describe('The token itself. Returned once; only a hash is stored.'),
}).meta({ id: 'TokenCreateResponse' });

const tags: [string] = ['auth'];
const limitTags: [string] = ['api-token-limits'];

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
        'Creates an active API token and returns it once in `token`; only its hash is stored. The name of the calling token is recorded as creator. A token with limits can only make tokens that may do no more than itself.',
      refuses: [tokenBeyondLimits],
    })
    .input(fromWire(TokenCreateRequest))
    .output(toWire(TokenCreateResponse))
    .mutation(async ({ ctx, input }) => {
      const expiresAt = input.expiresAt ? utcDate(input.expiresAt) : null;
      const made = await createApiToken(ctx.app, ctx.actor, {
        ...input,
        description: input.description ?? null,
        expiresAt,
        scopes: input.scopes ?? null,
        allowedAddresses: input.allowedAddresses ?? null,
      });
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
