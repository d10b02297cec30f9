import type { Rows } from '../../core/db/columns.ts';

/** Columns of a subscription that a synchronisation with the panel may change. */
export type PanelColumns = Pick<
  Rows['Subscription'],
  | 'status'
  | 'endDate'
  | 'trafficLimitGb'
  | 'trafficUsedGb'
  | 'deviceLimit'
  | 'connectedSquads'
  | 'vpnpanelShortUuid'
  | 'subscriptionUrl'
  | 'subscriptionCryptoLink'
>;
