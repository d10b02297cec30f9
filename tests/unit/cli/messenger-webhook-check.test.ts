/** Spec 07, hazard I39: after an import `doctor` says where the messenger sends updates. */
import { expect, test } from 'vitest';
import { checkMessengerWebhook } from '../../../src/cli/doctor/outside-checks.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';

const ADDRESS = 'https://service.example/messenger-webhook';

/** What `doctor` finds when the messenger names this address. */
function findingsWith(readWebhook: () => Promise<string | null>, webhookUrl: string | null = 'https://service.example/') {
  const settings: Record<string, string | null> = { WEBHOOK_URL: webhookUrl, WEBHOOK_PATH: '/messenger-webhook/' };
  const facts = {
    settings: { get: (key: string) => settings[key] },
    ports: { messenger: { isConfigured: () => true, readWebhook } },
    fakes: [],
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
  expect(findings[0]!.next).toContain(ADDRESS);
});

test('without WEBHOOK_URL the messenger cannot reach this service, which is a warning', async () => {
  expect(await findingsWith(async () => null, null)).toMatchObject([{ verdict: 'warning', detail: 'WEBHOOK_URL is not set' }]);
});

test('a messenger that does not answer is left to the check of the messenger', async () => {
  const silent = async () => {
    throw new MessengerError({ kind: 'unavailable' }, 'getWebhookInfo was not answered');
  };
  expect(await findingsWith(silent)).toEqual([]);
});
