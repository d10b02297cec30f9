/** Writes of administrators on API tokens. */
import { createApiToken } from '../../src/domain/access/tokens.ts';
import type { AdminWrite, Fixture } from './admin-write-samples.ts';

const BASE = '/api-tokens';

const onToken = (kind: AdminWrite['kind'], action: string): AdminWrite => ({
  kind,
  request: async ({ app }: Fixture) => {
    const token = { name: 'Some', description: null, expiresAt: null, scopes: ['users:read'] };
    const { id } = await createApiToken(app, { kind: 'system', name: 'test' }, token);
    return { path: `${BASE}/${id}/${action}` };
  },
});

export const API_TOKEN_WRITES: Record<string, AdminWrite> = {
  [`POST ${BASE}`]: {
    kind: 'creation',
    request: async () => ({ path: BASE, body: { name: 'Reader', scopes: ['users:read'] } }),
  },
  [`POST ${BASE}/{token_id}/rotate`]: onToken('change', 'rotate'),
  [`POST ${BASE}/{token_id}/revoke`]: onToken('change', 'revoke'),
};
