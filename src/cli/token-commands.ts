import { addDays } from '../core/clock.ts';
import { createApiToken, listApiTokens, setApiTokenActive } from '../domain/access/manage-tokens.ts';
import type { ApiToken } from '../domain/access/types.ts';
import { type Command, CommandError } from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';
import { alignColumns } from './text-table.ts';
import { wholeNumber } from './whole-number.ts';

const MAX_DAYS = 36_500;

export const createTokenCommand: Command = {
  name: 'token create',
  parameters: 'NAME [--days N] [--description TEXT]',
  summary: 'Make an API token; its text is shown this once.',
  details: '--days N    the token ends after N days (1 to 36500); without it, never',
  options: { days: { type: 'string' }, description: { type: 'string' } },
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const days = call.options.days === undefined ? null : wholeNumber(String(call.options.days), '--days', MAX_DAYS);
    return withApp(call, async (app) => {
      const made = await createApiToken(app, OPERATOR, {
        name: call.words[0]!,
        description: typeof call.options.description === 'string' ? call.options.description : null,
        expiresAt: days === null ? null : addDays(app.clock.now(), days),
      });
      const text = [
        `Token ${made.id} "${made.name}", ${made.expiresAt ? `valid until ${moment(made.expiresAt)}` : 'without an end'}:`,
        '',
        `  ${made.token}`,
        '',
        'It is shown this once; only its hash is stored. Send it as the header X-API-Key.',
      ].join('\n');
      return { text, data: { ...tokenData(made), token: made.token } };
    });
  },
};

export const listTokensCommand: Command = {
  name: 'token list',
  parameters: '',
  summary: 'List API tokens, newest first.',
  words: [0, 0],
  runsInService: true,
  run: (call) =>
    withApp(call, async (app) => {
      const tokens = await listApiTokens(app);
      const now = app.clock.now();
      const rows = tokens.map((token) => [
        String(token.id),
        `${token.tokenPrefix}…`,
        stateOf(token, now),
        token.expiresAt ? moment(token.expiresAt) : 'never',
        token.lastUsedAt ? moment(token.lastUsedAt) : 'never',
        token.name,
      ]);
      const text =
        tokens.length === 0
          ? 'There is no API token. Make one: npm run cli -- token create NAME'
          : alignColumns([['ID', 'BEGINS', 'STATE', 'ENDS', 'LAST USED', 'NAME'], ...rows]);
      return { text, data: tokens.map(tokenData) };
    }),
};

export const revokeTokenCommand: Command = {
  name: 'token revoke',
  parameters: 'ID',
  summary: 'Switch an API token off, on every instance at once.',
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const id = wholeNumber(call.words[0]!, 'ID', 2_147_483_647);
    return withApp(call, async (app) => {
      const known = (await listApiTokens(app)).find((token) => token.id === id);
      if (!known) throw new CommandError(`There is no token ${id}. npm run cli -- token list shows all of them.`);
      const token = await setApiTokenActive(app, OPERATOR, id, false);
      return { text: `Token ${token.id} "${token.name}" is revoked.`, data: tokenData(token) };
    });
  },
};

function stateOf(token: ApiToken, now: Date): string {
  if (!token.isActive) return 'revoked';
  return token.expiresAt && token.expiresAt <= now ? 'expired' : 'active';
}

const moment = (date: Date) => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The names of the HTTP API, so that one program reads both. */
function tokenData(token: ApiToken) {
  return {
    id: token.id,
    name: token.name,
    prefix: token.tokenPrefix,
    description: token.description,
    is_active: token.isActive,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt?.toISOString() ?? null,
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    created_by: token.createdBy,
  };
}
