import { z } from 'zod';
import { fullTokenOfSuperadmin, TOKEN_SCOPES } from '../../domain/access/token-scopes.ts';
import {
  createApiToken,
  defaultTokenFixed,
  listApiTokens,
  rotateApiToken,
  setApiTokenActive,
  tokenNotFound,
} from '../../domain/access/tokens.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import {
  TokenCreateRequest,
  TokenCreateResponse,
  TokenPath,
  TokenResponse,
  TokenRotateRequest,
  toTokenRequest,
  toTokenResponse,
} from '../web/auth.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Not in the contract: API tokens for administrators (spec 01 section 9). */

const ApiTokenList = z
  .object({
    items: TokenResponse.array().describe('The tokens, inactive ones included, newest first.'),
    scopes: z.string().array().describe('Every scope that a token can have.'),
  })
  .meta({ id: 'ApiTokenList' });

const tags: [string] = ['Cabinet Admin API Tokens'];
const base = '/cabinet/admin/api-tokens';

export const adminApiTokensRouter = router({
  list: adminProcedure('api_tokens:read')
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'API tokens and the scopes that there are' },
      description:
        'Lists all API tokens with scopes, end, addresses and last use. The tokens themselves are never returned again.',
    })
    .output(toWire(ApiTokenList))
    .query(async ({ ctx }) => ({ items: (await listApiTokens(ctx.app)).map(toTokenResponse), scopes: TOKEN_SCOPES })),

  create: freshAdminProcedure('api_tokens:create')
    .meta({
      openapi: { method: 'POST', path: base, tags, summary: 'Create an API token as an administrator' },
      description:
        'Creates an active API token and returns it once in `token`; only its hash is stored. One without scopes, or with those of backups, which are as much as everything, is made by superadmins only.',
      refuses: [fullTokenOfSuperadmin],
    })
    .input(fromWire(TokenCreateRequest))
    .output(toWire(TokenCreateResponse))
    .mutation(async ({ ctx, input }) => {
      const made = await createApiToken(ctx.app, ctx.actor, toTokenRequest(input));
      return { ...toTokenResponse(made), token: made.token };
    }),

  rotate: freshAdminProcedure('api_tokens:edit')
    .meta({
      openapi: { method: 'POST', path: `${base}/{token_id}/rotate`, tags, summary: 'Give an API token another text' },
      description:
        'Replaces the text of a token and returns the new one once in `token`. The present text stays valid for `overlap_minutes`, so that programs can change over; a text before it ends at once.',
      refuses: [tokenNotFound, defaultTokenFixed, fullTokenOfSuperadmin],
      wire: { bodyOptional: true },
    })
    .input(fromWire(withBody(TokenPath, TokenRotateRequest)))
    .output(toWire(TokenCreateResponse))
    .mutation(async ({ ctx, input }) => {
      const made = await rotateApiToken(ctx.app, ctx.actor, input.tokenId, input.overlapMinutes);
      return { ...toTokenResponse(made), token: made.token };
    }),

  revoke: freshAdminProcedure('api_tokens:edit')
    .meta({
      openapi: { method: 'POST', path: `${base}/{token_id}/revoke`, tags, summary: 'Revoke an API token' },
      description: 'Revokes a token: it is refused from now on and its open feeds are closed. A repeat changes nothing.',
      refuses: [tokenNotFound, fullTokenOfSuperadmin],
    })
    .input(fromWire(TokenPath))
    .output(toWire(TokenResponse))
    .mutation(async ({ ctx, input }) => toTokenResponse(await setApiTokenActive(ctx.app, ctx.actor, input.tokenId, false))),
});
