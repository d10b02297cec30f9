import { notification, orderApiCase } from './order-api-case.ts';

const PATH = '/freekassa-webhook';

/** Freekassa (03a section 10). */
export const freekassaCase = orderApiCase({
  method: 'freekassa',
  path: PATH,
  F11: { status: 403, body: 'Error', make: async (fixture) => ({ ...notification(fixture, PATH), ip: '8.8.8.8' }) },
  credentials: (secret) => ({
    FREEKASSA_SHOP_ID: '7012',
    FREEKASSA_API_KEY: secret,
    FREEKASSA_SECRET_WORD_1: secret,
    FREEKASSA_SECRET_WORD_2: secret,
  }),
  realEnvironment: { FREEKASSA_CALLBACK_NETWORKS: '127.0.0.0/8' },
  vectors: { shopId: '7012', word2: 'word-two' },
});
