/** Spec 09 section 3: receivers of imported webhooks know the words of the other product. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { importedFrom } from '../../support/imported-databases.ts';
import { serverUrl } from '../../support/test-database.ts';

describe.skipIf(!serverUrl)('imported webhooks (left out without a server: TEST_DATABASE_URL)', () => {
  test.each([
    ['those of the client while they are on', 'telegram=messenger,remnawave=vpnpanel', true],
    ['ours while they are off', '', false],
  ])('have %s', async (_words, pairs, hasClientWords) => {
    const imported = await importedFrom(['--users', '40'], undefined, { INTERFACE_WORDS: pairs });
    onTestFinished(() => imported.drop());
    expect(await imported.rows('SELECT DISTINCT has_client_words FROM webhooks')).toEqual([{ hasClientWords }]);
  });
});
