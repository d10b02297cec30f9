/** Spec 07 section 9 and hazard I39: where the messenger sends updates, as `doctor` finds it and `messenger set-webhook` registers it. */
import { expect, test } from 'vitest';
import type { CommandCall } from '../../../src/cli/command.ts';
import { checkMessengerWebhook } from '../../../src/cli/doctor/outside-checks.ts';
import { setWebhookCommand } from '../../../src/cli/messenger-command.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';

const ADDRESS = 'https://service.example/messenger-webhook';

/** What `doctor` finds when the messenger names this address. */
function findingsWith(
  readWebhook: () => Promise<string | null>,
  webhookUrl: string | null = 'https://service.example/',
  isImported = true,
) {
  const settings: Record<string, string | null> = { WEBHOOK_URL: webhookUrl, WEBHOOK_PATH: '/messenger-webhook/' };
  const facts = {
    settings: { get: (key: string) => settings[key] },
    ports: { messenger: { isConfigured: () => true, readWebhook } },
    fakes: [],
    isImported,
  };
  return checkMessengerWebhook(facts as unknown as Parameters<typeof checkMessengerWebhook>[0]);
}

test('a webhook that leads to this service is in order', async () => {
  expect(await findingsWith(async () => ADDRESS)).toMatchObject([{ verdict: 'ok' }]);
});

test.each([
  ['the old bot', 'https://bot.example/secret-path', 'leads to bot.example, not to WEBHOOK_URL'],
  ['another path of this host', 'https://service.example/webhook', 'leads to service.example, not to WEBHOOK_URL'],
  ['nowhere', null, 'none is registered'],
])('a webhook that leads to %s is a warning without its path', async (_name, registered, detail) => {
  const findings = await findingsWith(async () => registered);
  expect(findings).toMatchObject([{ check: 'messenger webhook', verdict: 'warning', detail }]);
  expect(findings[0]!.next).toContain(`${ADDRESS}: npm run cli -- messenger set-webhook`);
});

test('without WEBHOOK_URL the messenger cannot reach this service, which is a warning after an import', async () => {
  expect(await findingsWith(async () => null, null)).toMatchObject([{ verdict: 'warning', detail: 'WEBHOOK_URL is not set' }]);
  expect(await findingsWith(async () => null, null, false)).toEqual([]);
});

test('a messenger that does not answer is left to the check of the messenger', async () => {
  const silent = async () => {
    throw new MessengerError({ kind: 'unavailable' }, 'getWebhookInfo was not answered');
  };
  expect(await findingsWith(silent)).toEqual([]);
});

/** Runs `messenger set-webhook` with these settings besides those of a service that is set up. */
async function register(changes: Record<string, string | null> = {}, setWebhook?: (url: string) => Promise<void>) {
  const registered: string[] = [];
  const settings: Record<string, string | null> = {
    WEBHOOK_URL: 'https://service.example/',
    WEBHOOK_PATH: '/messenger-webhook',
    WEBHOOK_SECRET_TOKEN: 'secret',
    ...changes,
  };
  const messenger = {
    isConfigured: () => settings.BOT_TOKEN !== null,
    setWebhook: setWebhook ?? (async (url: string) => void registered.push(url)),
  };
  const app = { settings: { get: (key: string) => settings[key] }, ports: { messenger } };
  const result = await setWebhookCommand.run({ words: [], options: {}, app } as unknown as CommandCall);
  return { registered, ...result };
}

test('the command registers the address of this service', async () => {
  expect(await register()).toMatchObject({ registered: [ADDRESS], data: { url: ADDRESS } });
});

test.each([
  ['BOT_TOKEN', 'BOT_TOKEN is not set'],
  ['WEBHOOK_URL', 'WEBHOOK_URL is not set'],
  ['WEBHOOK_SECRET_TOKEN', 'WEBHOOK_SECRET_TOKEN is not set'],
])('without %s the command registers nothing', async (key, message) => {
  await expect(register({ [key]: null })).rejects.toThrow(message);
});

test('the command says why the messenger has refused the address', async () => {
  const refuse = async () => {
    throw new MessengerError({ kind: 'rejected' }, 'setWebhook was refused: bad webhook');
  };
  await expect(register({}, refuse)).rejects.toThrow('did not register the address: setWebhook was refused: bad webhook.');
});
