import { z } from 'zod';
import { TOKEN_SCOPES } from '../../domain/access/token-scopes.ts';
import { DEFAULT_OVERLAP_MINUTES, MAX_OVERLAP_MINUTES } from '../../domain/access/tokens.ts';
import type { ApiToken } from '../../domain/access/types.ts';
import { Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import type { Domain } from '../wire.ts';

/** API tokens, of the groups `auth`, `api-token-limits` and `Cabinet Admin API Tokens`. */

export const TokenPath = z.object({ token_id: z.int().describe('Id of the API token.') });

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

export const TokenCreateRequest = z
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

export const TokenResponse = z
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

export const TokenUpdateRequest = z
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

export const TokenRotateRequest = z
  .object({
    overlap_minutes: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_MINUTES)
      .default(DEFAULT_OVERLAP_MINUTES)
      .describe('Minutes for which the present text stays valid; 0 for not at all.'),
  })
  .meta({ id: 'TokenRotateRequest', example: { overlap_minutes: 60 } });

export const TokenCreateResponse = TokenResponse.extend({
  token: z.string().describe('The token itself. Returned once; only a hash is stored.'),
}).meta({ id: 'TokenCreateResponse' });

export const toTokenResponse = ({ tokenPrefix, ...token }: ApiToken) => ({ ...token, prefix: tokenPrefix });

/** What a request to create a token asks for. */
export const toTokenRequest = (input: Domain<z.output<typeof TokenCreateRequest>>) => ({
  ...{ name: input.name, description: input.description ?? null },
  expiresAt: input.expiresAt ? utcDate(input.expiresAt) : null,
  ...{ scopes: input.scopes ?? null, allowedAddresses: input.allowedAddresses ?? null },
});
