/** An API token as the interface shows it; the token's text exists only in the answer that creates it. */
export interface ApiToken {
  id: number;
  name: string;
  prefix: string;
  description: string | null;
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  lastUsedIp: string | null;
  createdBy: string | null;
}
