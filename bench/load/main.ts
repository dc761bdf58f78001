// The hub's load generator.
import { runCrowdLoad } from './crowd-load.ts';
import { runCycleLoad } from './cycle-load.ts';
import { runDeliveryLoad } from './delivery-load.ts';
import { runFleetLoad } from './fleet-load.ts';
import type { LoadSpec } from './load-spec.ts';
import { takeOrder } from './order.ts';
import { runPostLoad } from './post-load.ts';

takeOrder<LoadSpec>((spec, onMark) => {
  switch (spec.kind) {
    case 'post':
      return runPostLoad(spec, onMark);
    case 'cycles':
      return runCycleLoad(spec, onMark);
    case 'delivery':
      return runDeliveryLoad(spec, onMark);
    case 'crowd':
      return runCrowdLoad(spec, onMark);
    case 'fleet':
      return runFleetLoad(spec, onMark);
  }
});
