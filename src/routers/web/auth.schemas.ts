import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';

/** Contract group `auth`: API tokens (spec 01 section 9). */

export const TokenPath = z.object({ token_id: z.int() });

export const TokenCreateRequest = z
  .object({
    name: z.string(),
    description: z.string().nullish(),
    expires_at: MomentInput.nullish(),
  })
  .meta({
    id: 'TokenCreateRequest',
    example: { name: 'Support bot', description: 'Reads users and tickets', expires_at: '2027-01-31T12:00:00Z' },
  });

export const TokenResponse = z
  .object({
    id: z.int(),
    name: z.string(),
    prefix: z.string(),
    description: z.string().nullish(),
    is_active: z.boolean(),
    created_at: z.date(),
    updated_at: z.date().nullish(),
    expires_at: z.date().nullish(),
    last_used_at: z.date().nullish(),
    last_used_ip: z.string().nullish(),
    created_by: z.string().nullish(),
  })
  .meta({ id: 'TokenResponse' });

export const TokenCreateResponse = TokenResponse.extend({ token: z.string() }).meta({ id: 'TokenCreateResponse' });
