/** Passkeys of a browser in the form in which the service sends and reads them: WebAuthn's, as JSON. */

/** What `secondFactor.signInChallenge`, `challenge` and `beginPasskey` answer. */
export interface PasskeyOptions {
  /** What is signed (base64url). */
  challenge: string;
  [option: string]: unknown;
}

/** A signature or a new passkey: `passkey` of `secondFactor.signIn` and of a `Proof`, `response` of `secondFactor.addPasskey`. */
export interface PasskeyAnswer {
  id: string;
  response: Record<string, unknown>;
  [field: string]: unknown;
}

/** The part of WebAuthn that is used; the package is compiled without the types of a browser. */
interface Browser {
  PublicKeyCredential?: {
    parseRequestOptionsFromJSON(options: PasskeyOptions): unknown;
    parseCreationOptionsFromJSON(options: PasskeyOptions): unknown;
  };
  navigator?: { credentials?: Record<'get' | 'create', (options: { publicKey: unknown }) => Promise<unknown>> };
}

function browser() {
  const { PublicKeyCredential, navigator } = globalThis as unknown as Browser;
  // Also where the page was not loaded over HTTPS or from this machine.
  if (!PublicKeyCredential || !navigator?.credentials) throw new Error('Passkeys are not available here');
  return { PublicKeyCredential, credentials: navigator.credentials };
}

function answerOf(credential: unknown): PasskeyAnswer {
  if (credential === null) throw new Error('No passkey was used');
  const { response, ...rest } = (credential as { toJSON(): PasskeyAnswer }).toJSON();
  return { ...rest, response: { ...response } };
}

/**
 * Lets the user sign with one of his passkeys; for browsers.
 * @throws DOMException when he does not want to or has none, Error where the browser has no passkeys
 */
export async function signWithPasskey(options: PasskeyOptions): Promise<PasskeyAnswer> {
  const { PublicKeyCredential, credentials } = browser();
  return answerOf(await credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }));
}

/**
 * Lets the user make a passkey on this device, or on a key or telephone that he chooses; for browsers.
 * @throws DOMException when he does not want to, Error where the browser has no passkeys
 */
export async function createPasskey(options: PasskeyOptions): Promise<PasskeyAnswer> {
  const { PublicKeyCredential, credentials } = browser();
  return answerOf(await credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }));
}
