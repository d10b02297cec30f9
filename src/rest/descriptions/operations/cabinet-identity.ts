/** Cabinet: sign-in, OAuth, linked accounts, merging. */
export const CABINET_IDENTITY: Readonly<Record<string, string>> = {
  'POST /cabinet/auth/messenger':
    'Signs in with the launch data of the mini-app, at most 30 days old; an unknown user is created. Name and user name are refreshed. A referral code counts for a new user only; a campaign gives its bonus once per account.',
  'POST /cabinet/auth/messenger/widget':
    'Signs in with the data of the login widget; an unknown user is created. Otherwise like the sign-in with launch data.',
  'POST /cabinet/auth/messenger/oidc':
    'Signs in with an OpenID Connect token of the messenger; an unknown user is created. A token is accepted once.',
  'POST /cabinet/auth/login/auto': 'Signs in with the token that a purchase on a sales page returned. The token works once.',
  'POST /cabinet/auth/deeplink/request':
    'Begins a sign-in in a browser that the user confirms in the bot. Show the bot link with the token, then poll the outcome.',
  'POST /cabinet/auth/deeplink/poll':
    'Returns the outcome of a sign-in through the bot: 202 until the user confirms it, then the session, once; 410 when the token has expired or was used.',
  'POST /cabinet/auth/refresh':
    'Answers a new access token for a refresh token, and the same refresh token, which stays valid for its whole life. Where the sign-in asked for `rotate_refresh_token`, the refresh token is a new one: the old one works for a minute more, for parallel tabs; its use after that ends the session and all its tokens.',
  'POST /cabinet/auth/logout': 'Ends the session of a refresh token. The answer for an unknown token is the same.',
  'GET /cabinet/auth/me': 'Returns the signed-in user.',
  'GET /cabinet/auth/me/permissions':
    'Returns roles and permissions of the signed-in user, empty for a user who is no administrator.',
  'GET /cabinet/auth/me/is-admin': 'Returns whether the signed-in user is an administrator by configuration or by a role.',
  'POST /cabinet/auth/email/register':
    'Links an e-mail address and a password to the own account. A verification link is mailed, unless verification is switched off.',
  'POST /cabinet/auth/email/register/standalone':
    'Creates an account with e-mail address and password and mails a verification link. No session is created: the user signs in afterwards. Emits `user.created`.',
  'POST /cabinet/auth/email/verify':
    'Verifies an address by the mailed token and signs in. If the panel has a subscription for the address, it is imported.',
  'POST /cabinet/auth/email/resend': 'Mails a new verification link to the own address; the old one stops working.',
  'POST /cabinet/auth/email/login':
    'Signs in with e-mail address and password. The answers for an unknown address and a wrong password are the same.',
  'POST /cabinet/auth/email/change':
    'Changes the own address. A verified address stays until the code that is mailed to the new one is entered; an unverified address is replaced at once and a verification link is mailed.',
  'POST /cabinet/auth/email/change/verify': 'Completes the change of the own address by the mailed code.',
  'POST /cabinet/auth/email/change/cancel': 'Cancels the pending change of the own address.',
  'GET /cabinet/auth/email/change/status': 'Returns whether a change of the own address is pending.',
  'POST /cabinet/auth/password/forgot':
    'Mails a link to set a new password, if an account has the address. The answer is the same for every address.',
  'POST /cabinet/auth/password/reset':
    'Sets a new password by the mailed token, which also verifies the address. All sessions of the account end.',

  'GET /cabinet/auth/oauth/providers': 'Lists the providers that are configured and switched on.',
  'GET /cabinet/auth/oauth/{provider}/authorize':
    'Begins a sign-in: returns the address to send the browser to and the state that belongs to it.',
  'GET /cabinet/auth/oauth/{provider}': 'Another path of `GET /cabinet/auth/oauth/{provider}/authorize`, with the same answer.',
  'POST /cabinet/auth/oauth/{provider}/callback':
    'Completes a sign-in with the code of the provider. The user is found by the id at the provider, else by an address that the provider has verified, else created. The state works once.',

  'GET /cabinet/auth/account/linked-providers': 'Lists the ways to sign in and which of them the own account has.',
  'GET /cabinet/auth/account/link/{provider}/init':
    'Begins to link a provider to the own account: returns the address to send the browser to.',
  'POST /cabinet/auth/account/link/{provider}/callback':
    'Links a provider to the own account. If the identity belongs to another account, nothing is linked and a merge token is returned.',
  'POST /cabinet/auth/account/link/messenger':
    'Links a messenger account to the own account, by launch data, login widget or OpenID Connect token; exactly one of them is sent. If it belongs to another account, a merge token is returned.',
  'POST /cabinet/auth/account/link/server-complete':
    'Links a provider in a browser that is not signed in, such as the external browser of the mini-app. The state is the credential and works once.',
  'POST /cabinet/auth/account/unlink/{provider}':
    'Unlinks a provider from the own account. The last way to sign in cannot be unlinked.',

  'GET /cabinet/auth/merge/{merge_token}': 'Returns both accounts of a merge. The token stays valid.',
  'POST /cabinet/auth/merge/{merge_token}':
    'Merges two accounts into the one that was signed in, and creates a session for it. Balances are added, identities, movements, tickets and referrals move; of two subscriptions the chosen one remains and the other is deleted in the panel. All sessions of both accounts end. The token works once.',
};
