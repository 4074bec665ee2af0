// The outline of what is still being read: the place is taken, and nobody looks at an empty page.
export const Skeleton = ({ lines }: { lines: number }) => (
  <div class="skeleton" aria-hidden="true">
    {Array.from({ length: lines }, (_, index) => (
      <i key={index} />
    ))}
  </div>
);
