;; What the batches of Emacs have in common: nothing of the machine, the set-up of the documentation, waiting.
(setq user-emacs-directory (file-name-as-directory (make-temp-file "emacs" t))
      package-user-dir (expand-file-name "elpa" user-emacs-directory)
      make-backup-files nil create-lockfiles nil auto-save-default nil)
(require 'package)
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa") ; -Q hides what Debian installed
(package-initialize)
(load (getenv "EMACS_SETUP") nil t)
(require 'eglot)
(require 'yaml-mode)
(require 'flymake)
(setq eglot-sync-connect 30 eglot-autoshutdown t eglot-confirm-server-initiated-edits nil)

(defun say (name value) (princ (format "%s: %s\n" name (replace-regexp-in-string "\n" " " (format "%s" value)))))
(defun wait-for (what check)
  (let ((end (+ (float-time) 40)) found)
    (while (not (or (setq found (funcall check)) (> (float-time) end)))
      (accept-process-output nil 0.02))
    (unless found (say "timeout" what) (kill-emacs 1))
    found))

(defvar ended nil)
(cl-defmethod eglot-handle-notification (_server (_method (eql loopLs/event)) &rest event)
  (when (member (plist-get event :kind) '("completed" "failed" "cancelled"))
    (push (format "%s %s" (plist-get event :kind) (plist-get event :reason)) ended)))
(cl-defmethod eglot-handle-notification (_server (_method (eql loopLs/run)) &rest _state) nil)

(defun connect ()
  "What `eglot-ensure' does when somebody types."
  (apply #'eglot--connect (eglot--guess-contact))
  (wait-for "a managed buffer" (lambda () (bound-and-true-p eglot--managed-mode))))

(defvar told nil)
(cl-defmethod eglot-handle-notification :after (_server (_method (eql window/showMessage)) &key _type message)
  (push message told))
(defun wait-for-message (part)
  (wait-for part (lambda () (seq-find (lambda (one) (string-match-p (regexp-quote part) one)) told))))

(defun choose (part)
  "Pick the code action at point that holds PART."
  (setq last-nonmenu-event 13)          ; from the keyboard, so it asks in the minibuffer
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt items &rest _)
               (or (car (seq-find (lambda (one) (string-match-p (regexp-quote part) (car one))) items))
                   (progn (say "missing" (mapcar #'car items)) (kill-emacs 1))))))
    (call-interactively #'eglot-code-actions)))
