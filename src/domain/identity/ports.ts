/** Who the messenger says is using the mini-app. */
export interface MessengerIdentity {
  /** Null when the signed data names nobody. */
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  /** IETF tag, for example `ru` or `en-US`. */
  languageCode: string | null;
}

/** Checks what the messenger signed for a user. No outside call: the bot token is the key. */
export interface MessengerIdentityPort {
  /**
   * Checks the mini-app's identity data (spec 01 section 3).
   * @param maxAgeSeconds oldest sign-in that is believed; one from up to 300 s in the future is, too
   * @returns null when the signature, the age or the form is wrong, or no bot token is set
   */
  verifyInitData(initData: string, maxAgeSeconds: number): MessengerIdentity | null;
}

declare module '../../core/app.ts' {
  interface Ports {
    messengerIdentity: MessengerIdentityPort;
  }
}
