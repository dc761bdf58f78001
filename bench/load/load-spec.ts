import type { CrowdLoad } from './crowd-load.ts';
import type { CycleLoad } from './cycle-load.ts';
import type { DeliveryLoad } from './delivery-load.ts';
import type { FleetLoad } from './fleet-load.ts';
import type { PostLoad } from './post-load.ts';

/** The work of the hub's load generator. */
export type LoadSpec = PostLoad | CycleLoad | DeliveryLoad | CrowdLoad | FleetLoad;
