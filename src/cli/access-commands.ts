import { addDays } from '../core/clock.ts';
import { COMMAND_LINE } from '../core/process-env.ts';
import { systemRandom, urlSafeToken } from '../core/random.ts';
import {
  createApiToken,
  DEFAULT_OVERLAP_MINUTES,
  listApiTokens,
  MAX_OVERLAP_MINUTES,
  rotateApiToken,
  setApiTokenActive,
} from '../domain/access/tokens.ts';
import type { ApiToken } from '../domain/access/types.ts';
import { createAdmin, needsPassword } from '../domain/identity/create-account.ts';
import { findUserByEmail, findUserById } from '../domain/identity/find-user.ts';
import { resetSecondFactor } from '../domain/identity/second-factor/account-factors.ts';
import { askSecret } from './ask-secret.ts';
import { alignColumns, type Command, type CommandCall, CommandError, UsageError, wholeNumber } from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';

const MAX_DAYS = 36_500;

export const createTokenCommand: Command = {
  name: 'token create',
  parameters: 'NAME [--days N] [--description TEXT] [--scopes LIST] [--addresses LIST]',
  summary: 'Make an API token; its text is shown this once.',
  details: [
    '--days N           the token ends after N days (1 to 36500); without it, never',
    '--scopes LIST      what it may do, e.g. users:read,balance:write; without it, everything',
    '--addresses LIST   IP addresses and CIDR ranges from which it is valid; without it, everywhere',
  ].join('\n'),
  options: {
    days: { type: 'string' },
    description: { type: 'string' },
    scopes: { type: 'string' },
    addresses: { type: 'string' },
  },
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const days = call.options.days === undefined ? null : wholeNumber(String(call.options.days), '--days', MAX_DAYS);
    return withApp(call, async (app) => {
      const made = await createApiToken(app, OPERATOR, {
        name: call.words[0]!,
        description: typeof call.options.description === 'string' ? call.options.description : null,
        expiresAt: days === null ? null : addDays(app.clock.now(), days),
        scopes: listOption(call.options.scopes),
        allowedAddresses: listOption(call.options.addresses),
      });
      const text = [
        `Token ${made.id} "${made.name}", ${made.expiresAt ? `valid until ${timestamp(made.expiresAt)}` : 'without an end'}:`,
        '',
        `  ${made.token}`,
        '',
        'It is shown this once; only its hash is stored. Send it as the header X-API-Key.',
      ].join('\n');
      return { text, data: { ...tokenData(made), token: made.token } };
    });
  },
};

const listOption = (value: unknown): string[] | null =>
  typeof value === 'string' ? value.split(',').map((part) => part.trim()) : null;

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
        token.expiresAt ? timestamp(token.expiresAt) : 'never',
        token.lastUsedAt ? timestamp(token.lastUsedAt) : 'never',
        token.scopes === null ? 'everything' : token.scopes.join(','),
        token.name,
      ]);
      const text =
        tokens.length === 0
          ? `There is no API token. Make one: ${COMMAND_LINE} token create NAME`
          : alignColumns([['ID', 'BEGINS', 'STATE', 'ENDS', 'LAST USED', 'MAY', 'NAME'], ...rows]);
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
      if (!known) throw new CommandError(`There is no token ${id}. ${COMMAND_LINE} token list shows all of them.`);
      const token = await setApiTokenActive(app, OPERATOR, id, false);
      return { text: `Token ${token.id} "${token.name}" is revoked.`, data: tokenData(token) };
    });
  },
};

export const rotateTokenCommand: Command = {
  name: 'token rotate',
  parameters: 'ID [--overlap MINUTES]',
  summary: 'Give an API token another text, shown this once.',
  details: '--overlap MINUTES   for how long the present text stays valid (1 to 10080); without it, an hour',
  options: { overlap: { type: 'string' } },
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const id = wholeNumber(call.words[0]!, 'ID', 2_147_483_647);
    const { overlap } = call.options;
    const minutes =
      overlap === undefined ? DEFAULT_OVERLAP_MINUTES : wholeNumber(String(overlap), '--overlap', MAX_OVERLAP_MINUTES);
    return withApp(call, async (app) => {
      const made = await rotateApiToken(app, OPERATOR, id, minutes);
      const text = [
        `Token ${made.id} "${made.name}" has another text; the former one is valid until ${timestamp(made.previousUntil!)}:`,
        '',
        `  ${made.token}`,
        '',
        'It is shown this once; only its hash is stored.',
      ].join('\n');
      return { text, data: { ...tokenData(made), token: made.token } };
    });
  },
};

function stateOf(token: ApiToken, now: Date): string {
  if (!token.isActive) return 'revoked';
  return token.expiresAt && token.expiresAt <= now ? 'expired' : 'active';
}

const timestamp = (date: Date) => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

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
    scopes: token.scopes,
    allowed_addresses: token.allowedAddresses,
    previous_until: token.previousUntil?.toISOString() ?? null,
  };
}

/** 18 bytes: 144 bits in 24 characters. */
const GENERATED_BYTES = 18;

export const createAdminCommand: Command = {
  name: 'admin create',
  parameters: 'EMAIL [--password prompt|generated|TEXT]',
  summary: 'Make a superadmin of a new or an existing account.',
  details: [
    '--password prompt      asks for the password without showing it',
    '--password generated   makes one and shows it once',
    '--password TEXT        takes TEXT; it stays in the history of your shell',
    'Without --password an existing account keeps its password; any other gets a generated one.',
    'A new password ends all sessions of the account.',
  ].join('\n'),
  options: { password: { type: 'string' } },
  words: [1, 1],
  runsInService: true,
  prepare: askPassword,
  run: (call) => {
    const email = call.words[0]!;
    const given = givenPassword(call.options);
    return withApp(call, async (app) => {
      const isGenerated = given === 'generated' || (given === null && needsPassword(await findUserByEmail(app, email)));
      const password = isGenerated ? urlSafeToken(systemRandom, GENERATED_BYTES) : (given?.text ?? null);
      const admin = await createAdmin(app, OPERATOR, { email, password });
      const lines = [`${admin.email} (user ${admin.userId}) is a superadmin${admin.isNew ? ', with a new account' : ''}.`];
      if (isGenerated) lines.push('', `  Password: ${password}`, '', 'It is shown this once.');
      else lines.push(admin.isPasswordSet ? 'The password is set; older sessions have ended.' : 'The password is as before.');
      lines.push('Sign in: POST /cabinet/auth/email/login with email and password.');
      if (!admin.isLasting) {
        lines.push(
          '',
          'ADMIN_IDS or ADMIN_EMAILS are set and do not name this account: the next start of the service takes the role away again.',
          `Add ${admin.email} to ADMIN_EMAILS to keep it.`,
        );
      }
      return {
        text: lines.join('\n'),
        data: {
          user_id: admin.userId,
          email: admin.email,
          is_new: admin.isNew,
          is_password_set: admin.isPasswordSet,
          is_lasting: admin.isLasting,
          ...(isGenerated ? { password } : {}),
        },
      };
    });
  },
};

export const resetSecondFactorCommand: Command = {
  name: 'admin reset-second-factor',
  parameters: 'USER',
  summary: 'Remove every second factor of an account, whose owner has lost them.',
  details: [
    'USER is the id or the e-mail of the account, of an administrator or a customer. Make sure that it is its owner who asks.',
    'His sessions end, he is notified, and the audit log has an entry. Where his role demands a second factor, he adds one at the next sign-in.',
  ].join('\n'),
  words: [1, 1],
  runsInService: true,
  run: (call) => {
    const name = call.words[0]!;
    return withApp(call, async (app) => {
      const user = /^\d+$/.test(name) ? await findUserById(app, Number(name)) : await findUserByEmail(app, name);
      if (!user) throw new CommandError(`There is no account ${name}.`);
      const removed = await resetSecondFactor(app, OPERATOR.name, user.id);
      const text =
        removed === 0
          ? `Account ${user.id} had no second factor; its sessions have ended.`
          : `Account ${user.id}: ${removed} second factors and the recovery codes are removed, its sessions have ended.`;
      return { text, data: { user_id: user.id, removed } };
    });
  },
};

/** Option that no command line can give: the password that was typed. */
const TYPED = 'typed password';

async function askPassword({ terminal, options }: CommandCall): Promise<CommandCall['options']> {
  if (options.password !== 'prompt') return options;
  const text = await askSecret(terminal, 'Password: ');
  // Input from a pipe needs no second entry against typing errors.
  if (terminal.input.isTTY && text !== (await askSecret(terminal, 'Again: '))) {
    throw new UsageError('The two passwords differ; nothing was changed.');
  }
  return { ...options, [TYPED]: text };
}

function givenPassword({ password, [TYPED]: typed }: CommandCall['options']): 'generated' | { text: string } | null {
  if (typeof typed === 'string') return { text: typed };
  if (typeof password !== 'string') return null;
  return password === 'generated' ? 'generated' : { text: password };
}
