import { systemRandom, urlSafeToken } from '../core/random.ts';
import { createAdmin, needsPassword } from '../domain/identity/create-admin.ts';
import { findUserByEmail } from '../domain/identity/find-user.ts';
import { askSecret } from './ask-secret.ts';
import { type Command, type CommandCall, UsageError } from './command.ts';
import { OPERATOR, withApp } from './open-service.ts';

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
