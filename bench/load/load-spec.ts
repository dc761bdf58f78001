import type { CrowdLoad } from './crowd-load.ts';
import type { CycleLoad } from './cycle-load.ts';
import type { DeliveryLoad } from './delivery-load.ts';
import type { PostLoad } from './post-load.ts';

/** What the hub's load generator is told to do. */
export type LoadSpec = PostLoad | CycleLoad | DeliveryLoad | CrowdLoad;
