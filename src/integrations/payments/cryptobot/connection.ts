import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface CryptobotConnection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  /** Assets that the payer may choose from; empty = all of the provider. */
  acceptedAssets: readonly string[];
  expiresInSeconds: number;
}

const TESTNET_URL = 'https://testnet-pay.crypt.bot';
/** The provider's own limit of `expires_in`. */
const MAX_EXPIRES_SECONDS = 2_678_400;

/** Null while CryptoBot has no token. */
export function cryptobotConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): CryptobotConnection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('CRYPTOBOT_API_TOKEN') ?? '');
  if (!access && token === '') return null;
  const realUrl = settings.get('CRYPTOBOT_TESTNET') ? TESTNET_URL : settings.get('CRYPTOBOT_BASE_URL');
  return {
    baseUrl: bareUrl(access ? access.baseUrl : realUrl),
    token,
    acceptedAssets: settings
      .get('CRYPTOBOT_ASSETS')
      .split(',')
      .map((asset) => asset.trim().toUpperCase())
      .filter((asset) => asset !== ''),
    expiresInSeconds: Math.min(settings.get('CRYPTOBOT_INVOICE_EXPIRES_HOURS') * 3_600, MAX_EXPIRES_SECONDS),
  };
}
