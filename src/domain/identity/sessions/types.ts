/** The tokens as the client gets them. */
export interface TokenPair {
  accessToken: string;
  refreshToken: string;
  /** Seconds until the access token expires. */
  expiresIn: number;
}

/** Claims of an access token about its user; for display by the front end, never for an access decision (spec 01 section 2.1). */
export interface AccessClaims {
  userId: number;
  messengerId: number | null;
  permissions: readonly string[];
  roles: readonly string[];
  roleLevel: number;
  /** The last end of all sessions of the user before this one was admitted; the next end makes the token void (spec 01 H8). */
  sessionsEndedAt: Date | null;
  /** The session, as long as which a socket lives (spec 10 U3). */
  sessionId: string;
  /** When the user last proved in this session who he is; null when that is not known. */
  provedAt: Date | null;
  hasSecondFactor: boolean;
}

export type TokenType = 'access' | 'refresh' | 'auto_login';
