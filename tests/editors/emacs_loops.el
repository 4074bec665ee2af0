;; An assistant's loop in Emacs as a batch: started with a message, answered with EMACS_ANSWER, read.
;; Each line of output is `name: value`; the last one says `done`.
(load (expand-file-name "emacs_common.el" (file-name-directory load-file-name)) nil t)

(find-file (getenv "EMACS_FILE"))
(connect)
(cl-letf (((symbol-function 'read-string) (lambda (prompt &rest _) (say "asked" prompt) "a haiku")))
  (call-interactively #'loop-ls-run))
(say "told" (wait-for-message "waits for your decision"))
(goto-char (point-max))                 ; wherever one is in the file
(choose (getenv "EMACS_ANSWER"))
(wait-for "the end of the run" (lambda () ended))
(say "run" (car ended))
(goto-char (point-min))
(choose "Open run")
(let ((shown (wait-for-message "See ")))
  (find-file (substring shown (length "See ") -1))
  (say "transcript" (buffer-string)))
(say "done" "yes")
(kill-emacs 0)
