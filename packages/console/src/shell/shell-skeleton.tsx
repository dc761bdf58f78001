import { PageSkeleton, SkeletonBar } from '../parts/status/skeleton.tsx';
import { shellGrid, sidebarClasses, topBarClasses } from './shell-layout.ts';

/** The shell while the session is being read: the same places, without any data. */
export function ShellSkeleton() {
  return (
    <div className={shellGrid}>
      <div className={topBarClasses}>
        <SkeletonBar className="ml-2 w-32" />
      </div>
      <div className={sidebarClasses}>
        <div className="grid gap-6 p-4">
          <SkeletonBar className="w-4/5" />
          <SkeletonBar className="w-1/2" />
          <SkeletonBar className="w-1/2" />
        </div>
      </div>
      <main className="min-w-0 px-4 pt-5 pb-8 sm:px-6 lg:px-8">
        <PageSkeleton />
      </main>
    </div>
  );
}
