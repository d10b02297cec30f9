/** What the adapter needs of the settings; read on every call, so a change takes effect at once (spec 03 sections 2.4, 2.5, 10). */
export interface YookassaConnection {
  enabled: boolean;
  /** `https://api.yookassa.ru/v3`, or the sandbox's address. No slash at the end. */
  baseUrl: string;
  shopId: string;
  secretKey: string;
  /** Used when the caller names no return URL. */
  returnUrl: string | null;
  /** Receipt contact when the payer has no e-mail. */
  receiptEmail: string | null;
  vatCode: number;
  paymentMode: string;
  paymentSubject: string;
  /** Ask the provider to save the card: `YOOKASSA_RECURRENT_ENABLED` and `YOOKASSA_RECURRENT_REQUIRED`. */
  saveCard: boolean;
  minKopeks: number;
  maxKopeks: number;
  webhookPath: string;
  /** CIDR networks of the installation's reverse proxies, besides the private and CDN ranges that are always trusted. */
  trustedProxyNetworks: readonly string[];
  /** Replaces the provider's published source networks; only for the sandbox and tests. */
  allowedNetworks?: readonly string[];
}

export const YOOKASSA_BASE_URL = 'https://api.yookassa.ru/v3';

/** Source networks of the provider's notifications (spec 03 section 2.5). */
export const YOOKASSA_NETWORKS: readonly string[] = [
  '185.71.76.0/27',
  '185.71.77.0/27',
  '77.75.153.0/25',
  '77.75.154.128/25',
  '77.75.156.11/32',
  '77.75.156.35/32',
  '2a02:5180::/32',
];
