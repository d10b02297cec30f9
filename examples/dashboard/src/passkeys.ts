/** Passkeys in the forms of the service: WebAuthn's, as JSON. */

type Options = { challenge: string } & Record<string, unknown>;

function answerOf(credential: Credential | null) {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('No passkey was used');
  const { response, ...rest } = credential.toJSON();
  return { ...rest, response: { ...response } };
}

/** Makes a passkey on this device, or on a key or telephone that the user chooses. */
export async function createPasskey(options: Options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
  return answerOf(await navigator.credentials.create({ publicKey }));
}

/** Lets the user sign with one of his passkeys. */
export async function signWithPasskey(options: Options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
  return answerOf(await navigator.credentials.get({ publicKey }));
}
