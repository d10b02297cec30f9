import type { Rows } from '../../core/db/columns.ts';

/** What is on sale. The meaning of the columns is described at the models. */

/** How often the panel resets the used traffic; null on a tariff means the service-wide default. */
export type TrafficResetMode = NonNullable<Rows['Tariff']['trafficResetMode']>;

export type Tariff = Omit<Rows['Tariff'], 'serverTrafficLimits'> & {
  /** By squad uuid; stored and shown, not sent to the panel. */
  serverTrafficLimits: Record<string, { trafficLimitGb: number }>;
  /** Promo group ids; empty = everyone. */
  allowedPromoGroupIds: number[];
};

export type ServerSquad = Omit<Rows['ServerSquad'], 'createdAt' | 'updatedAt'> & {
  /** Active and trial subscriptions that have the squad. */
  currentUsers: number;
  /** At least one. */
  allowedPromoGroupIds: number[];
};
