import { expect, test } from 'vitest';
import { readClientFacts } from '../../../scripts/client-facts.ts';

test('the client asks every procedure that begins a session for a refresh token that rotates', () => {
  expect(readClientFacts().signIn).toEqual([
    'cabinet.accountMerge.execute',
    'cabinet.auth.autoLogin',
    'cabinet.auth.deepLink.poll',
    'cabinet.auth.email.login',
    'cabinet.auth.email.verify',
    'cabinet.auth.messenger',
    'cabinet.auth.messengerOidc',
    'cabinet.auth.messengerWidget',
    'cabinet.oauth.callback',
    'cabinet.secondFactor.signIn',
  ]);
});
