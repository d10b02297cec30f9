/** A new pair as the client gets it. */
export interface TokenPair {
  accessToken: string;
  refreshToken: string;
  /** Seconds until the access token ends. */
  expiresIn: number;
}

/** What an access token says about its user; a hint for the front end, never the basis of a decision (spec 01 section 2.1). */
export interface AccessClaims {
  userId: number;
  messengerId: number | null;
  permissions: readonly string[];
  roles: readonly string[];
  roleLevel: number;
  /** When all sessions of the user had been ended last as this one was admitted; the next end makes the token void (spec 01 H8). */
  sessionsEndedAt: Date | null;
}

export type TokenType = 'access' | 'refresh' | 'auto_login';
