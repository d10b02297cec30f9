/** Passkeys in the forms of the service: WebAuthn's, as JSON. */

type Options = { challenge: string } & Record<string, unknown>;

function answerOf(credential: Credential | null) {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('No passkey was used');
  const { response, ...rest } = credential.toJSON();
  return { ...rest, response: { ...response } };
}

/** Lets the user sign with one of his passkeys. */
export async function signWithPasskey(options: Options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
  return answerOf(await navigator.credentials.get({ publicKey }));
}
