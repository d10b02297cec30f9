import { z } from 'zod';
import { TimestampInput } from '../shared.schemas.ts';

/** Contract group `auth`: API tokens (spec 01 section 9). */

export const TokenPath = z.object({ token_id: z.int().describe('Id of the API token.') });

export const TokenCreateRequest = z
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

export const TokenResponse = z
  .object({
    id: z.int().describe('Id of the API token.'),
    name: z.string().describe('Name of the API token, shown in lists and in the audit log.'),
    prefix: z.string().describe('First 8 characters of the token, to recognise it by.'),
    description: z.string().nullish().describe('What the token is for; null for nothing.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    created_at: z.date().describe('When the API token was created (UTC).'),
    updated_at: z.date().nullish().describe('When the record was last changed (UTC); null when it never was.'),
    expires_at: z.date().nullish().describe('When it stops being valid (UTC); null when it never does.'),
    last_used_at: z.date().nullish().describe('When the token was last used (UTC), to the minute; null when it never was.'),
    last_used_ip: z.string().nullish().describe('Address that last used the token; null when it was never used.'),
    created_by: z
      .string()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
  })
  .meta({ id: 'TokenResponse' });

export const TokenCreateResponse = TokenResponse.extend({
  token: z.string().describe('The token itself. Returned once; only a hash is stored.'),
}).meta({ id: 'TokenCreateResponse' });
